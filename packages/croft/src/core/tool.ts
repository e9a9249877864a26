import type { z } from 'zod';
import type { Denial } from './commands/sandbox.ts';
import { parse } from './parse.ts';
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
  /** What the fence refused meanwhile. The toolbox tells of each as a violation. */
  readonly denials?: readonly Denial[];
}

export interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly access: ToolAccess;
  readonly reach: ToolReach;
  /** Whether calling it again with the same input changes nothing more. */
  readonly idempotent?: boolean;
  readonly input: Input;
  readonly output: Output;
  /** Other spellings of the name that callers of older systems use. */
  readonly aliases?: readonly string[];
  /** Other spellings of arguments, to the name in `input`. */
  readonly argumentAliases?: Readonly<Record<string, string>>;
  /** Ends the call with `E_TIMEOUT`. For work that may take long. */
  readonly timeoutMs?: number;
  run(input: z.output<Input>, context: ToolContext): Promise<ToolResult<z.input<Output>>>;
}

/** A tool with its types closed over, so that a toolbox can hold many kinds. */
export interface Tool extends Omit<ToolDefinition<z.ZodObject, z.ZodObject>, 'run'> {
  /** Throws `E_INVALID_INPUT` before anything happens. */
  call(rawInput: unknown, context: ToolContext): Promise<ToolResult>;
}

/** Declares what a tool takes, gives and does. Policy, limits and records are the toolbox's work. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { run, ...description } = definition;
  const { input, output, argumentAliases = {} } = definition;
  return {
    ...description,
    async call(rawInput, context) {
      const result = await run(parse(input, toArguments(rawInput, argumentAliases)), context);
      return { ...result, structured: output.parse(result.structured) };
    },
  };
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
