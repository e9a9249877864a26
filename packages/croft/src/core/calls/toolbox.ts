import { AppError, type CallOutlook } from '@croft/protocol';
import { redactDeep } from '../../lib/redaction/redact.ts';
import { cutText } from '../../lib/text/cut-text.ts';
import { createControlStripper } from '../../lib/text/strip-control-sequences.ts';
import { findNearest } from '../arguments/nearest-name.ts';
import type { Emit } from '../events/emitter.ts';
import { rejectAfter } from '../events/reject-after.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionTools } from '../tools/session-tools.ts';
import type { Tool, ToolResult } from '../tools/tool.ts';
import { needsApproval } from '../workspace/permission.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { WorkspaceSet } from '../workspace/workspace-set.ts';
import { createActiveCalls } from './active-calls.ts';
import { toOutlook } from './call-outlook.ts';
import { createCallRecorder, type ReceivedCall, workspaceHint } from './call-recorder.ts';
import { describeTool, type ToolDescription } from './describe-tool.ts';
import { fanOut } from './fan-out.ts';
import { fitAnswer } from './fit-answer.ts';
import { isCombinedName, readCombinedCall, unknownOperation } from './read-combined-call.ts';
import {
  type AdmittedCall,
  type Caller,
  createRunInWorkspace,
  type RunInWorkspaceOptions,
} from './run-in-workspace.ts';
import { createToolListing, type ToolListingOptions } from './tool-listing.ts';
import { toToolPermissions } from './tool-permissions.ts';
import { toolsByName } from './tools-by-name.ts';
import { type NamedCall, type UnlistedTools, unlistedToolsName } from './unlisted-tools.ts';

export type { Caller } from './run-in-workspace.ts';

interface ToolboxOptions extends RunInWorkspaceOptions, ToolListingOptions {
  readonly tools: readonly Tool[];
  /** Whether a tool is in the toolbox. One that is not can be neither listed nor called. */
  isIncluded(tool: Tool): boolean;
  readonly emit: Emit;
  /** Writes a line to the server's log. */
  onWarning(message: string): void;
  /** Further tools of each session. Absent: none. */
  readonly sessionTools?: SessionTools | undefined;
}

interface RecordedCall extends AdmittedCall {
  /** Reports a failed workspace in a call that other workspaces answer. */
  onFailure(workspace: string, error: AppError): void;
}

const maxTextLength = 1_000_000;
/** Limits how much of an unknown tool name the error repeats. */
const maxNameLength = 200;
/** How long the answer of a finished call waits for records that do not respond. */
const saveTimeoutMs = 4000;

export type Toolbox = ReturnType<typeof createToolbox>;

/**
 * The one path of every tool call, through whichever interface it came. A tool that is not allowed is not in the
 * toolbox, so it can be neither listed nor called.
 */
export function createToolbox(options: ToolboxOptions) {
  const { tools, workspaces, journal, secrets, emit, sessionTools, onWarning } = options;
  const { present, describe, more } = createToolListing(tools.filter(options.isIncluded), options);
  const byName = toolsByName(present);
  const calls = createActiveCalls();
  const answers = { secrets, hasPages: byName.has('next_page') };
  const runInWorkspace = createRunInWorkspace(options);
  const record = createCallRecorder({ workspaces, secrets, journal, emit, onWarning });
  const recordNothing = createCallRecorder({ workspaces, secrets, journal: undefined, emit: () => {}, onWarning });

  return {
    /** Describes the tools that every session has. */
    common: describe,

    /** Describes all tools of one session. May start programs (MCP servers) to find them. */
    async list(session: Session): Promise<readonly ToolDescription[]> {
      const further = (await sessionTools?.list(session)) ?? [];
      return [...describe(), ...further.map((tool) => describeTool(tool, workspaces, true))];
    },

    /** Runs a call. Every failure is an `AppError`. */
    call: (name: string, rawInput: unknown, caller: Caller): Promise<ToolResult> =>
      runRecorded(toRealCall(name, rawInput, more), caller, record),

    /** Says what a call would do now. Runs and records nothing; makes an approval if the call needs one. */
    ask(name: string, rawInput: unknown, caller: Caller): Promise<CallOutlook> {
      const real = toRealCall(name, rawInput, more);
      return toOutlook(real.name, () => runRecorded(real, { ...caller, onlyAsks: true }, recordNothing));
    },

    /** Says what these tools may do in each workspace. */
    fence: () => toToolPermissions(workspaces.list(), tools.filter(options.isIncluded), options.onReadOnly),

    /**
     * Returns the output so far of a call in progress, as its answer would show it. `undefined` if no such call runs a
     * command here.
     */
    outputOf: (call: string) => toShownOutput(calls.outputOf(call), secrets),

    /**
     * Whether a call of this tool may need approval. A call of `tools`, or by a combined name, may be one of any tool.
     */
    mayAsk(name: string): boolean {
      const isOfSession = !byName.has(name) && sessionTools?.isName(name);
      const isAny = name === unlistedToolsName || isCombinedName(name) || isOfSession;
      return canNeedApproval(isAny ? { access: 'execute' } : byName.get(name), workspaces);
    },

    /** Refuses new calls, waits for calls in progress until the deadline, and then cancels them. */
    ...{ stop: calls.stop, isIdle: calls.isIdle },
  };

  function runRecorded(real: NamedCall, caller: Caller, recorder: typeof record): Promise<ToolResult> {
    return calls.run(endersOf(caller), (call) =>
      recorder(toReceivedCall(real, caller), call, (violate, onFailure) =>
        run(real, caller, { call, reportViolation: violate, onFailure }),
      ),
    );
  }

  async function run({ name, rawInput }: NamedCall, caller: Caller, under: RecordedCall): Promise<ToolResult> {
    const hint = workspaceHint(rawInput);
    const asked = { name, workspace: hint, session: caller.session, signal: under.call.signal };
    const tool = byName.get(name) ?? (sessionTools?.isName(name) ? await sessionTools.find(asked) : undefined);
    if (!tool) throw noSuchTool(name, [...byName.keys()]);

    await caller.session.store?.refresh(caller.session, caller.sessionMoves);
    const runIn = (workspace: Workspace) => runInWorkspace({ tool, rawInput, workspace, caller, ...under });
    if (tool.reach === 'one-or-all' && workspaces.isAll(hint))
      return finish(await fanOut(workspaces.list(), runIn, under.onFailure), caller, answers);
    return finish(await runIn(pickWorkspace(tool, rawInput, caller.session, workspaces)), caller, answers);
  }
}

function toShownOutput(text: string | undefined, { redactStream }: RunInWorkspaceOptions['secrets']) {
  return text === undefined ? undefined : redactStream().push(createControlStripper()(text));
}

function canNeedApproval(tool: Parameters<typeof needsApproval>[1] | undefined, workspaces: WorkspaceSet): boolean {
  return tool !== undefined && workspaces.list().some(({ permission }) => needsApproval(permission, tool));
}

interface FinishOptions {
  readonly secrets: Pick<RunInWorkspaceOptions['secrets'], 'redact'>;
  readonly hasPages: boolean;
}

/** Redacts secrets in every answer and limits its size. */
function finish(
  { forModel, ...result }: ToolResult,
  { session, maxAnswerBytes: maxBytes }: Caller,
  { secrets: { redact }, hasPages }: FinishOptions,
): ToolResult {
  const structured = maxBytes === undefined ? result.structured : { ...result.structured, ...forModel };
  const whole = cap({ ...result, text: redact(result.text), structured: redactDeep(structured, redact) });
  if (maxBytes === undefined) return whole;
  return fitAnswer(whole, { maxBytes, pages: hasPages ? session.pages : undefined });
}

function noSuchTool(name: string, names: readonly string[]): AppError {
  if (isCombinedName(name)) return unknownOperation();
  const shown = name.slice(0, maxNameLength);
  const nearest = findNearest(shown, names);
  const suggestion = nearest === undefined ? '' : `; the nearest is ${nearest}`;
  return new AppError('E_UNKNOWN_TOOL', `there is no tool named ${shown}${suggestion}`, { details: { tool: shown } });
}

function endersOf({ signal, sessionSignal }: Caller): AbortSignal[] {
  return sessionSignal ? [signal, sessionSignal] : [signal];
}

/**
 * A call through `tools`, or by a combined name, is from here on the call of the tool that is meant, in every respect.
 */
function toRealCall(name: string, rawInput: unknown, more: UnlistedTools | undefined): NamedCall {
  const named = (name === unlistedToolsName ? more?.readCall(rawInput) : undefined) ?? { name, rawInput };
  return readCombinedCall(named.name, named.rawInput) ?? named;
}

function toReceivedCall({ name, rawInput }: NamedCall, { session, onlyAsks }: Caller): ReceivedCall {
  const saving = onlyAsks ? {} : { saveSession: () => saveSession(session) };
  return { name, rawInput, session: session.id, ...saving };
}

/** Stores the session. Resolves with a message if that fails or takes too long. */
async function saveSession(session: Session): Promise<string[]> {
  try {
    await rejectAfter(saveTimeoutMs, session.store?.save(session));
    return [];
  } catch (thrown) {
    return [`The session was not saved (${AppError.from(thrown).message}). The next call saves it.`];
  }
}

/** Picks the workspace of a call. A call that names a thing of a workspace need not name the workspace. */
function pickWorkspace(tool: Tool, rawInput: unknown, session: Session, workspaces: WorkspaceSet): Workspace {
  if (tool.reach === 'none') return workspaces.first();
  const hint = tool.home ?? workspaceHint(rawInput);
  const isNamed = typeof hint === 'string' && hint.trim() !== '';
  if (isNamed || !tool.workspaceOf) return workspaces.pick(hint);
  // A thing that is in no workspace is reported as missing, whichever workspace is picked.
  return workspaces.pick(tool.workspaceOf(rawInput, session) ?? workspaces.first().name);
}

function cap(result: ToolResult): ToolResult {
  if (result.text.length <= maxTextLength) return result;
  const shown = cutText(result.text, maxTextLength);
  const elided = Buffer.byteLength(result.text) - Buffer.byteLength(shown);
  return { ...result, text: `${shown}\n... (output truncated, ${elided} bytes elided)` };
}
