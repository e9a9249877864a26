import { AppError } from '@croft/protocol';
import type { Approvals, Asker } from './approvals/approvals.ts';
import type { Call } from './calls.ts';
import type { Effect, Effects } from './checks/effects.ts';
import type { Denial } from './commands/sandbox.ts';
import type { Telling } from './history/history.ts';
import type { Journal } from './journal.ts';
import { toLoggable } from './loggable.ts';
import { checkAccess, mustAsk } from './permission.ts';
import { baseIn, pinned } from './place.ts';
import { collectRefused } from './refused.ts';
import type { Secrets } from './secrets.ts';
import type { Session } from './session.ts';
import type { PreparedCall, Tool, ToolContext, ToolResult } from './tool.ts';
import type { CallAround, Workspace } from './workspace.ts';
import type { WorkspaceSet } from './workspace-set.ts';

/** Whose calls these are, for whoever agrees to them. */
export interface Gate {
  readonly approvals: Approvals;
  readonly accountId: string;
  readonly agentId: string;
}

export interface Caller {
  readonly session: Session;
  readonly signal: AbortSignal;
  /** How the person at the other end can be asked. Left out: they cannot, and the call does not wait. */
  readonly asker?: Asker | undefined;
}

export interface PassageOptions {
  readonly workspaces: WorkspaceSet;
  /** The tools that work where nothing may be changed. Left out: all that only read. */
  readonly onReadOnly?: ReadonlySet<string> | undefined;
  /** Where a person agrees to calls. Left out: what a person would have to agree to is refused. */
  readonly gate?: Gate | undefined;
  /** The audit trail. Left out: there is none. */
  readonly journal?: Journal | undefined;
  readonly secrets: Secrets;
  /** What follows a write. */
  readonly effects: Effects;
}

/** A call that was let in. */
export interface UnderWay {
  readonly call: Call;
  /** Tells of one thing the fence refused. */
  violate(denial: Denial): void;
}

export interface Passing extends UnderWay {
  readonly tool: Tool;
  readonly rawInput: unknown;
  readonly workspace: Workspace;
  readonly caller: Caller;
}

const maxTitle = 200;
const askNobody: Asker = { label: 'nobody', waitMs: 0 };

/** One tool in one workspace: parsed, allowed and agreed to, in this order, so that nobody is asked in vain. */
export function createPassage({ workspaces, onReadOnly, gate, journal, secrets, effects }: PassageOptions) {
  return async function pass({ tool, rawInput, workspace, caller, call, violate }: Passing): Promise<ToolResult> {
    const { session, asker = askNobody } = caller;
    const base = baseIn(session.place, workspace.name);
    const { refused, append } = collectRefused(violate);
    const context: ToolContext = { workspace, workspaces, session, base, secrets, signal: call.signal, refused };
    const prepared = tool.prepare(rawInput, base);
    if (tool.reach !== 'none') checkAccess(workspace, tool, onReadOnly);
    if (workspace.isFleeting && prepared.leavesRunning) throw nothingStays(tool.name);
    if (mustAsk(workspace.permission, tool)) await ask(tool, prepared, context, asker);
    call.mustEndWithin(tool.timeoutMs, tool.name);
    if (tool.access !== 'read') await begin(tool, context);
    const work = async (telling?: Telling) => run(tool, prepared, context, telling);
    return append(await (workspace.around?.(toCall(tool, prepared, context), work) ?? work()));
  };

  async function run(tool: Tool, prepared: PreparedCall, context: ToolContext, telling?: Telling): Promise<ToolResult> {
    const { touched, replacement, ...result } = await prepared.run(pin(tool, context));
    if (replacement) telling?.changed(replacement);
    // Formatters and linters run what the workspace says: whoever may not run that unasked gets no effects either.
    if (touched === undefined || mustAsk(context.workspace.permission, { access: 'execute' })) return result;
    return withEffect(result, await effects.after(context, touched, telling?.looking));
  }

  function toCall(
    { name, access, tells, leavesFiles }: Tool,
    { input }: PreparedCall,
    { session, signal }: ToolContext,
  ): CallAround {
    const { command, file_path: file, path } = input;
    const shown = [command, file, path].find((value) => typeof value === 'string') ?? '';
    const title = secrets.redact(String(shown)).slice(0, maxTitle);
    return { tool: name, access, session: session.id, title, signal, tells, leavesFiles };
  }

  async function ask(tool: Tool, { input, preview }: PreparedCall, context: ToolContext, asker: Asker): Promise<void> {
    if (!gate) throw new AppError('E_APPROVAL_REQUIRED', `nobody can be asked here whether ${tool.name} may run`);
    const { accountId, agentId, approvals } = gate;
    const { session, signal } = context;
    const call = {
      ...{ accountId, agentId, session: session.id, inbox: session.inbox },
      ...{ tool: tool.name, workspace: nameFully(tool, context), input },
      preview: async () => secrets.redact(await preview(context)),
    };
    await approvals.mustBeApproved(call, asker, signal);
  }

  async function begin(tool: Tool, { session, workspace }: ToolContext): Promise<void> {
    // What only takes away is let through: it makes room.
    if (tool.name !== 'delete' && !tool.isFollowUp) await workspace.checkRoom?.();
    if (!journal) return;
    await journal.began(session.id, toLoggable({ tool: tool.name, workspace: workspace.name }, secrets.redact));
  }
}

/**
 * For people by its name, and for good by what it is. A command also by where it starts: other tools have their paths in
 * the input, from the root. Not a part of the preview, where the agent could write the same words.
 */
function nameFully({ access }: Tool, { workspace: { id, name }, base }: ToolContext): string {
  const known = id === name ? name : `${name} (${id})`;
  return access === 'execute' && base !== '' ? `${known}, in ${JSON.stringify(base)}` : known;
}

/** Whoever agreed did so to where it was then; the session may go elsewhere meanwhile. */
function pin({ access }: Tool, context: ToolContext): ToolContext {
  if (access !== 'execute') return context;
  return { ...context, session: pinned(context.session, context.workspace.name, context.base) };
}

function nothingStays(tool: string): AppError {
  const reason = 'nothing is kept between calls here, so nothing can go on in the background';
  return new AppError('E_INVALID_INPUT', `${tool}: ${reason}`);
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
