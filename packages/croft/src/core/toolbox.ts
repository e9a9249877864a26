import { AppError } from '@croft/protocol';
import { createInFlight } from '../lib/in-flight.ts';
import { type Emit, summarize } from './events.ts';
import { fanOut } from './fan-out.ts';
import type { Session } from './session.ts';
import type { Tool, ToolAccess, ToolContext, ToolResult } from './tool.ts';
import { describeTool, type ToolDescription } from './tool-description.ts';
import type { Workspace } from './workspace.ts';
import type { WorkspaceSet } from './workspace-set.ts';

export interface ToolboxOptions {
  readonly tools: readonly Tool[];
  readonly allowed: ReadonlySet<ToolAccess>;
  readonly workspaces: WorkspaceSet;
  readonly emit: Emit;
}

export interface Caller {
  readonly session: Session;
  readonly signal: AbortSignal;
}

export type Toolbox = ReturnType<typeof createToolbox>;

const maxTextLength = 1_000_000;

/**
 * The one path every tool call takes, whichever face it came from.
 * A tool that is not allowed is not here, so it can be neither listed nor called.
 */
export function createToolbox({ tools, allowed, workspaces, emit }: ToolboxOptions) {
  const present = tools.filter((tool) => allowed.has(tool.access));
  const descriptions = present.map((tool) => describeTool(tool, workspaces));
  const inFlight = createInFlight();
  const byName = new Map(present.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])].map((name) => [name, tool])));

  return {
    list: (): readonly ToolDescription[] => descriptions,

    /** Every failure is an `AppError`. */
    call: (name: string, rawInput: unknown, caller: Caller): Promise<ToolResult> =>
      inFlight.run(() => record(name, rawInput, caller)),

    /** Resolves when no call is under way any more, or after the deadline. */
    idle: (deadlineMs: number): Promise<void> => inFlight.idle(deadlineMs),
  };

  async function record(name: string, rawInput: unknown, caller: Caller): Promise<ToolResult> {
    const startedAt = performance.now();
    const about = { tool: name, workspace: nameOf(workspaceHint(rawInput)), session: caller.session.id };
    emit('lifecycle.tool.call', { ...about, arguments: summarize(rawInput) });
    try {
      const result = await pass(name, rawInput, caller);
      emit('lifecycle.tool.result', { ...about, duration_ms: elapsed(startedAt), is_error: false });
      return result;
    } catch (thrown) {
      const error = toFailure(thrown, caller.signal);
      const { code, details } = error;
      const { kind } = error.traits;
      if (code === 'E_SANDBOX_VIOLATION') emit('lifecycle.sandbox.violation', { ...about, code, kind, ...details });
      emit('lifecycle.tool.result', { ...about, duration_ms: elapsed(startedAt), is_error: true, code });
      throw error;
    }
  }

  function nameOf(hint: unknown): string | null {
    if (typeof hint === 'string' && hint.trim() !== '') return hint.trim();
    return workspaces.names.length === 1 ? (workspaces.names[0] ?? null) : null;
  }

  async function pass(name: string, rawInput: unknown, { session, signal }: Caller): Promise<ToolResult> {
    signal.throwIfAborted();
    const tool = byName.get(name);
    if (!tool) throw new AppError('E_UNKNOWN_TOOL', `there is no tool named ${name}`, { details: { tool: name } });

    using deadline = startDeadline(tool, signal);
    const runIn = (workspace: Workspace): Promise<ToolResult> => {
      const context: ToolContext = { workspace, workspaces, session, signal: deadline.signal };
      return deadline.guard(tool.call(rawInput, context));
    };

    const hint = workspaceHint(rawInput);
    if (tool.reach === 'one-or-all' && workspaces.isAll(hint)) return cap(await fanOut(workspaces.list(), runIn));
    return cap(await runIn(tool.reach === 'none' ? workspaces.first() : workspaces.pick(hint)));
  }
}

function workspaceHint(rawInput: unknown): unknown {
  return typeof rawInput === 'object' && rawInput !== null && 'workspace' in rawInput ? rawInput.workspace : undefined;
}

function startDeadline(tool: Tool, signal: AbortSignal) {
  const { timeoutMs } = tool;
  if (timeoutMs === undefined) return { signal, guard: <T>(work: Promise<T>) => work, [Symbol.dispose]() {} };

  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    guard: <T>(work: Promise<T>) =>
      work.catch((thrown) => {
        if (!controller.signal.aborted) throw thrown;
        throw new AppError('E_TIMEOUT', `${tool.name} took longer than ${timeoutMs / 1000} s`, {
          details: { timeoutMs },
        });
      }),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

function toFailure(thrown: unknown, signal: AbortSignal): AppError {
  if (signal.aborted) return new AppError('E_CANCELLED', 'the call was cancelled', { cause: thrown });
  return AppError.from(thrown);
}

function cap(result: ToolResult): ToolResult {
  if (result.text.length <= maxTextLength) return result;
  const elided = Buffer.byteLength(result.text) - Buffer.byteLength(result.text.slice(0, maxTextLength));
  return { ...result, text: `${result.text.slice(0, maxTextLength)}\n... (output truncated, ${elided} bytes elided)` };
}

function elapsed(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
