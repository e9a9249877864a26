import type { z } from 'zod';
import type { Denial } from './commands/sandbox.ts';
import type { Replacement } from './files.ts';
import { parse } from './parse.ts';
import { fromBase } from './place.ts';
import type { Secrets } from './secrets.ts';
import type { Session } from './session.ts';
import type { Workspace } from './workspace.ts';
import type { WorkspaceSet } from './workspace-set.ts';

export type ToolAccess = 'read' | 'write' | 'execute';

/** Which workspaces a tool works on: the picked one, the picked one or `all` of them, or none in particular. */
export type ToolReach = 'one' | 'one-or-all' | 'none';

export interface ToolContext {
  /** The picked workspace. */
  readonly workspace: Workspace;
  readonly workspaces: WorkspaceSet;
  readonly session: Session;
  /** The directory the session is in; empty for the root. Only for showing paths: those in the input are placed already. */
  readonly base: string;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  /** Tells of what the fence refused to something that the tool ran: in the answer, and each as a violation. */
  refused(denials: readonly Denial[]): void;
}

export interface Image {
  readonly data: string;
  readonly mimeType: string;
}

export interface ToolResult<Output = Record<string, unknown>> {
  /** For the model. */
  readonly text: string;
  /** For programs: what `output` describes. */
  readonly structured: Output;
  readonly image?: Image;
  /** Workspace paths of files that have new content, or a new place. The toolbox formats and lints them. */
  readonly touched?: readonly string[];
  /** Of a tool that tells: how the file it changed did. */
  readonly replacement?: Replacement | undefined;
  /** What the fence refused meanwhile. The toolbox tells of each as a violation. */
  readonly denials?: readonly Denial[];
}

export interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly access: ToolAccess;
  readonly reach: ToolReach;
  /** Only for agents whose workspaces have the harness: see `core/harness`. */
  readonly isHarness?: true;
  /** It looks after a command that a person has agreed to already, and is not asked about again. */
  readonly isFollowUp?: true;
  /**
   * It changes no more than one file, and its result says how (`replacement`): nobody has to look for that. Left out: it
   * may change anything.
   */
  readonly tells?: true;
  /** It changes no file of the workspace: nobody has to look for what it did. Left out: it may change anything. */
  readonly leavesFiles?: true;
  /** Whether calling it again with the same input changes nothing more. */
  readonly idempotent?: boolean;
  readonly input: Input;
  readonly output: Output;
  /** Arguments that are paths of the workspace: written from where the session is, handed over from the root. */
  readonly paths?: readonly string[];
  /** Other spellings of the name that callers of older systems use. */
  readonly aliases?: readonly string[];
  /** Other spellings of arguments, to the name in `input`. */
  readonly argumentAliases?: Readonly<Record<string, string>>;
  /** Ends the call with `E_TIMEOUT`. For work that may take long. */
  readonly timeoutMs?: number;
  /** Whether something would go on running after the answer. Left out: nothing does. */
  leavesRunning?(input: z.output<Input>): boolean;
  /** What a person is shown before they agree to it: a diff, a command. Left out: the input. Changes nothing. */
  preview?(input: z.output<Input>, context: ToolContext): Promise<string>;
  run(input: z.output<Input>, context: ToolContext): Promise<ToolResult<z.input<Output>>>;
}

/** A call that can be made: its input is what the tool takes. */
export interface PreparedCall {
  readonly input: Readonly<Record<string, unknown>>;
  readonly leavesRunning: boolean;
  preview(context: ToolContext): Promise<string>;
  run(context: ToolContext): Promise<ToolResult>;
}

/** A tool with its types closed over, so that a toolbox can hold many kinds. */
export interface Tool extends Omit<ToolDefinition<z.ZodObject, z.ZodObject>, 'run' | 'preview' | 'leavesRunning'> {
  /** What is shown instead of `input`, of a tool that somebody else made. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  /** The workspace it works in whatever its input says: `workspace` is an argument of its own. */
  readonly home?: string;
  /** Throws `E_INVALID_INPUT` before anything happens. `base` is the directory that paths in it start from. */
  prepare(rawInput: unknown, base?: string): PreparedCall;
}

/** Declares what a tool takes, gives and does. Policy, limits and records are the toolbox's work. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { run, preview, leavesRunning, ...description } = definition;
  const { input, output, argumentAliases = {} } = definition;
  return {
    ...description,
    prepare(rawInput, base = '') {
      const given = parse(input, toArguments(rawInput, argumentAliases));
      const parsed = base === '' ? given : placePaths(given, definition.paths ?? [], base);
      return {
        input: parsed,
        leavesRunning: leavesRunning?.(parsed) ?? false,
        preview: async (context) => (await preview?.(parsed, context)) ?? JSON.stringify(parsed, null, 2),
        async run(context) {
          const result = await run(parsed, context);
          return { ...result, structured: output.parse(result.structured) };
        },
      };
    },
  };
}

function placePaths<Given extends object>(given: Given, names: readonly string[], base: string): Given {
  const place = (value: unknown): unknown => {
    if (typeof value === 'string') return fromBase(base, value);
    return Array.isArray(value) ? value.map(place) : value;
  };
  const placed = Object.entries(given).map(([name, value]) => [name, names.includes(name) ? place(value) : value]);
  return Object.fromEntries(placed) as Given;
}

/** Models spell arguments as other systems do, and send `null` for what they leave out. */
function toArguments(input: unknown, aliases: Readonly<Record<string, string>>): unknown {
  if (input === undefined || input === null) return {};
  if (typeof input !== 'object' || Array.isArray(input)) return input;
  const given = Object.entries(input).filter(([, value]) => value !== null);
  const names = new Set(given.map(([name]) => name));
  return Object.fromEntries(
    given.map(([name, value]) => {
      const meant = aliases[name];
      return [meant === undefined || names.has(meant) ? name : meant, value];
    }),
  );
}
