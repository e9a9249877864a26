import type { z } from 'zod';
import { parseBySchema } from '../arguments/parse-by-schema.ts';
import { createArgumentReader, type Spellings } from '../arguments/read-arguments.ts';
import type { OutputFollower } from '../commands/run-command.ts';
import type { SandboxDenial } from '../commands/sandbox.ts';
import type { RenderDiagram } from '../diagrams/render-diagram.ts';
import type { FileReplacement } from '../files/files.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Session } from '../sessions/session.ts';
import { resolveFromBase } from '../sessions/working-directory.ts';
import type { Toolset } from '../toolsets/toolsets.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { WorkspaceSet } from '../workspace/workspace-set.ts';
import type { Activity } from './activity.ts';

export type ToolAccess = 'read' | 'write' | 'execute';

/** The workspaces a tool works on: the picked one, the picked one or `all` of them, or none in particular. */
type ToolReach = 'one' | 'one-or-all' | 'none';

export interface ToolContext {
  /** The picked workspace. */
  readonly workspace: Workspace;
  readonly workspaces: WorkspaceSet;
  readonly session: Session;
  /**
   * The working directory of the session; empty for the root. Only for showing paths: paths in the input are already
   * resolved.
   */
  readonly base: string;
  readonly secrets: Secrets;
  readonly renderDiagram: RenderDiagram;
  readonly signal: AbortSignal;
  /**
   * Reports the current activity of the call. Absent: nobody wants to know. Programs in the sandbox are reported
   * without it.
   */
  readonly onActivity?: ((activity: Activity) => void) | undefined;
  /** Follows the command of the call: its output is the answer of the call, and is shown before it. */
  readonly follower?: OutputFollower | undefined;
  /**
   * Reports denials of a program that the tool ran: each as a violation, and in the answer unless the tool shows them.
   */
  reportDenials(denials: readonly SandboxDenial[], options?: { readonly areShown?: boolean }): void;
}

export interface Image {
  readonly data: string;
  readonly mimeType: string;
}

export interface ToolResult<Output = Record<string, unknown>> {
  /** The answer for the model. */
  readonly text: string;
  /** The answer for programs; matches the `output` schema. */
  readonly structured: Output;
  readonly image?: Image;
  /** Fields that replace those of `structured` for a model, such as lines with their numbers. */
  readonly forModel?: Partial<Output>;
  /** Further messages about the call. The toolbox adds them to the text and to the structured content. */
  readonly notices?: readonly string[];
  /** Workspace paths of files that have new content or a new name. The toolbox formats and lints them. */
  readonly touched?: readonly string[];
  /** The exact change of the file, for a tool with `tells`. */
  readonly replacement?: FileReplacement | undefined;
}

interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  /** Clients list the tool by default. Absent: the tool is found and called through `tools`. */
  readonly isEveryday?: true;
  readonly access: ToolAccess;
  readonly reach: ToolReach;
  /** Only for agents whose workspaces have the harness enabled: see `core/harness`. */
  readonly isHarness?: true;
  /** Manages a command that a person has already approved: needs no approval of its own. */
  readonly isFollowUp?: true;
  /**
   * The tool changes at most one file, and its result says how (`replacement`): the history need not compare trees.
   * Absent: it may change anything.
   */
  readonly reportsChanges?: true;
  /** The tool changes no file of the workspace: the history need not compare trees. Absent: it may change anything. */
  readonly leavesFiles?: true;
  /** Changes of the call that `undo` skips, as in `HistoryCall`. */
  readonly byproducts?: 'all' | 'new';
  /**
   * The tool stores more than the files of the workspace. Refused for an account that has used up its storage quota.
   */
  readonly keepsMore?: true;
  /** Whether a repeated call with the same input changes nothing more. */
  readonly idempotent?: boolean;
  /** Whether the tool can answer with an image, which structured content cannot hold. */
  readonly answersImages?: true;
  readonly input: Input;
  readonly output: Output;
  /**
   * Names of the arguments that are workspace paths. Callers write them relative to the working directory; the tool
   * gets them relative to the root.
   */
  readonly paths?: readonly string[];
  /**
   * The arguments among `paths` whose files the call changes or removes. A control file among them needs approval
   * first.
   */
  readonly changes?: readonly string[];
  /** Other names of the tool, used by callers of older systems. */
  readonly aliases?: readonly string[];
  /** Other spellings of the arguments, used by callers of other systems. */
  readonly spellings?: Spellings;
  /** Time limit, for work that may take long. The call then fails with `E_TIMEOUT`. */
  readonly timeoutMs?: number;
  /**
   * Finds the workspace of a thing that the input names (such as a background command), for a call without `workspace`.
   * Returns `undefined` if there is no such thing.
   */
  workspaceOf?(input: z.output<Input>, session: Session): string | undefined;
  /** Whether a program keeps running after the answer. Absent: none does. */
  leavesRunning?(input: z.output<Input>): boolean;
  /** Whether the call runs in the sandbox of its session, which is then opened early. Absent: that is known later. */
  usesSandbox?(input: z.output<Input>): boolean;
  /** Returns what a person sees before approving the call: a diff, a command. Absent: the input. Changes nothing. */
  preview?(input: z.output<Input>, context: ToolContext): Promise<string>;
  run(input: z.output<Input>, context: ToolContext): Promise<ToolResult<z.input<Output>>>;
}

/** A call with valid input, ready to run. */
export interface PreparedCall {
  readonly input: Readonly<Record<string, unknown>>;
  readonly leavesRunning: boolean;
  readonly usesSandbox?: boolean;
  /** The values of the arguments in `ToolDefinition.changes`. */
  readonly changes?: readonly string[];
  preview(context: ToolContext): Promise<string>;
  run(context: ToolContext): Promise<ToolResult>;
}

/** A tool without type parameters, so that a toolbox can hold tools of many types. */
export interface Tool
  extends Omit<
    ToolDefinition<z.ZodObject, z.ZodObject>,
    'run' | 'preview' | 'leavesRunning' | 'usesSandbox' | 'workspaceOf'
  > {
  /** The schema to list instead of `input`, for a tool of an MCP server. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  /** The only workspace the tool works in: its `workspace` argument, if any, is its own. */
  readonly home?: string;
  /** As in `ToolDefinition`, for an unparsed input. */
  workspaceOf?(rawInput: unknown, session: Session): string | undefined;
  /**
   * Parses the input. Throws `E_INVALID_INPUT` before anything happens. Relative paths in the input start from `base`.
   */
  prepare(rawInput: unknown, base?: string): PreparedCall;
}

/** Declares the input, the output and the work of a tool. Policy, limits and records are the toolbox's job. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { run, preview, leavesRunning, usesSandbox, workspaceOf, ...description } = definition;
  const { name: tool, input, output, reach, spellings } = definition;
  const read = createArgumentReader({ tool, input, others: reach === 'none' ? [] : ['workspace'], ...spellings });
  return {
    ...description,
    ...(workspaceOf && {
      workspaceOf: (rawInput, session) => workspaceOf(parseBySchema(input, read(rawInput)), session),
    }),
    prepare(rawInput, base = '') {
      const given = parseBySchema(input, read(rawInput));
      const parsed = base === '' ? given : resolvePaths(given, definition.paths ?? [], base);
      return {
        input: parsed,
        leavesRunning: leavesRunning?.(parsed) ?? false,
        usesSandbox: usesSandbox?.(parsed) ?? false,
        changes: valuesOf(parsed, definition.changes ?? []),
        preview: async (context) => (await preview?.(parsed, context)) ?? JSON.stringify(parsed, null, 2),
        async run(context) {
          const result = await run(parsed, context);
          return { ...result, structured: output.parse(result.structured) };
        },
      };
    },
  };
}

function valuesOf(given: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return names.map((name) => given[name]).filter((value) => typeof value === 'string');
}

function resolvePaths<Given extends object>(given: Given, names: readonly string[], base: string): Given {
  const resolve = (value: unknown): unknown => {
    if (typeof value === 'string') return resolveFromBase(base, value);
    return Array.isArray(value) ? value.map(resolve) : value;
  };
  const resolved = Object.entries(given).map(([name, value]) => [name, names.includes(name) ? resolve(value) : value]);
  return Object.fromEntries(resolved) as Given;
}
