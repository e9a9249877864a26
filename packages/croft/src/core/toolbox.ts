import { AppError } from '@croft/protocol';
import { redactDeep } from '../lib/redact.ts';
import { cutText } from '../lib/text/cut-text.ts';
import { type Call, createCalls } from './calls.ts';
import type { Effect, Effects } from './checks/effects.ts';
import type { Denial } from './commands/sandbox.ts';
import type { Emit } from './events.ts';
import { fanOut } from './fan-out.ts';
import { toLoggable } from './loggable.ts';
import { collectRefused } from './refused.ts';
import type { Secrets } from './secrets.ts';
import type { Session } from './session.ts';
import type { Tool, ToolAccess, ToolResult } from './tool.ts';
import { describeTool, type ToolDescription } from './tool-description.ts';
import type { Workspace } from './workspace.ts';
import type { WorkspaceSet } from './workspace-set.ts';

export interface ToolboxOptions {
  readonly tools: readonly Tool[];
  readonly allowed: ReadonlySet<ToolAccess>;
  readonly workspaces: WorkspaceSet;
  readonly secrets: Secrets;
  /** What follows a write. */
  readonly effects: Effects;
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
export function createToolbox({ tools, allowed, workspaces, secrets, effects, emit }: ToolboxOptions) {
  const present = tools.filter((tool) => allowed.has(tool.access));
  const descriptions = present.map((tool) => describeTool(tool, workspaces));
  const byName = new Map(present.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])].map((name) => [name, tool])));
  const calls = createCalls();

  return {
    list: (): readonly ToolDescription[] => descriptions,

    /** Every failure is an `AppError`. */
    call: (name: string, rawInput: unknown, { session, signal }: Caller): Promise<ToolResult> =>
      calls.run(signal, (call) => record(name, rawInput, session, call)),

    /** Takes no more calls, lets those under way end until the deadline, and then cancels them. */
    stop: calls.stop,
  };

  async function record(name: string, rawInput: unknown, session: Session, call: Call): Promise<ToolResult> {
    const startedAt = performance.now();
    const log = (fields: unknown) => toLoggable(fields, secrets.redact);
    const about = () => ({
      ...log({ tool: name, workspace: nameOf(workspaceHint(rawInput), workspaces) }),
      session: session.id,
    });
    const ended = () => ({ ...about(), duration_ms: elapsed(startedAt) });
    emit('lifecycle.tool.call', () => ({ ...about(), arguments: log(rawInput) }));
    const violate = (denial: Denial) =>
      emit('lifecycle.sandbox.violation', () => ({ ...about(), ...redactDeep({ ...denial }, secrets.redact) }));
    try {
      const { denials = [], ...result } = await pass(name, rawInput, { session, call, violate });
      for (const denial of denials) violate(denial);
      emit('lifecycle.tool.result', () => ({ ...ended(), is_error: false }));
      return result;
    } catch (thrown) {
      const failure = call.toFailure(thrown);
      const error = new AppError(failure.code, secrets.redact(failure.message), {
        details: redactDeep(failure.details, secrets.redact),
        cause: failure.cause,
      });
      const { code, details } = error;
      const { kind } = error.traits;
      if (kind === 'sandbox_violation')
        emit('lifecycle.sandbox.violation', () => ({ ...about(), code, kind, ...details }));
      emit('lifecycle.tool.result', () => ({ ...ended(), is_error: true, code }));
      throw error;
    }
  }

  async function pass(name: string, rawInput: unknown, { session, call, violate }: Passing): Promise<ToolResult> {
    const tool = byName.get(name);
    if (!tool) throw new AppError('E_UNKNOWN_TOOL', `there is no tool named ${name}`, { details: { tool: name } });

    call.mustEndWithin(tool.timeoutMs, tool.name);
    const runIn = async (workspace: Workspace): Promise<ToolResult> => {
      const { refused, append } = collectRefused(violate);
      const context = { workspace, workspaces, session, secrets, signal: call.signal, refused };
      const { touched, ...result } = await tool.call(rawInput, context);
      return append(touched === undefined ? result : withEffect(result, await effects.after(context, touched)));
    };
    const hint = workspaceHint(rawInput);
    if (tool.reach === 'one-or-all' && workspaces.isAll(hint)) return finish(await fanOut(workspaces.list(), runIn));
    return finish(await runIn(tool.reach === 'none' ? workspaces.first() : workspaces.pick(hint)));
  }

  /** Secrets stay secret whichever tool comes across them. */
  function finish(result: ToolResult): ToolResult {
    const { redact } = secrets;
    return cap({ ...result, text: redact(result.text), structured: redactDeep(result.structured, redact) });
  }
}

interface Passing {
  readonly session: Session;
  readonly call: Call;
  readonly violate: (denial: Denial) => void;
}

function nameOf(hint: unknown, { names }: WorkspaceSet): string | null {
  if (typeof hint === 'string' && hint.trim() !== '') return hint.trim();
  return names.length === 1 ? (names[0] ?? null) : null;
}

function workspaceHint(rawInput: unknown): unknown {
  return typeof rawInput === 'object' && rawInput !== null && 'workspace' in rawInput ? rawInput.workspace : undefined;
}

function withEffect(result: ToolResult, effect: Effect | undefined): ToolResult {
  if (!effect) return result;
  const { sections, structured } = effect;
  const added = Object.keys(structured).length === 0 ? {} : { effects: structured };
  return {
    ...result,
    text: [result.text, ...sections].join('\n\n'),
    structured: { ...result.structured, ...added },
  };
}

function cap(result: ToolResult): ToolResult {
  if (result.text.length <= maxTextLength) return result;
  const shown = cutText(result.text, maxTextLength);
  const elided = Buffer.byteLength(result.text) - Buffer.byteLength(shown);
  return { ...result, text: `${shown}\n... (output truncated, ${elided} bytes elided)` };
}

function elapsed(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
