import { AppError } from '@croft/protocol';
import type { Asker } from '../approvals/approvals.ts';
import type { PostEditChecks } from '../checks/post-edit/post-edit-checks.ts';
import { watchDiagnosticsOfEdit } from '../checks/post-edit/watch-diagnostics-of-edit.ts';
import type { SandboxDenial } from '../commands/sandbox.ts';
import type { RenderDiagram } from '../diagrams/render-diagram.ts';
import type { CallJournal } from '../events/call-journal.ts';
import type { Emit } from '../events/emitter.ts';
import { summarizeArguments, titleOfCall } from '../events/summarize-arguments.ts';
import { createNotUndoableNotices } from '../history/checkpoints/not-undoable-notices.ts';
import type { ChangeReporter } from '../history/ports/history.ts';
import { recordGivenSecrets, type Secrets } from '../secrets/secrets.ts';
import type { Session } from '../sessions/session.ts';
import { pinWorkingDirectory, workingDirectoryIn } from '../sessions/working-directory.ts';
import { type Activity, reportingActivity, toActivityLine } from '../tools/activity.ts';
import { addNotices, writeNotices } from '../tools/result-notices.ts';
import type { PreparedCall, Tool, ToolContext, ToolResult } from '../tools/tool.ts';
import { checkAccess, needsApproval } from '../workspace/permission.ts';
import type { Workspace, WorkspaceCall } from '../workspace/workspace.ts';
import type { WorkspaceSet } from '../workspace/workspace-set.ts';
import type { ActiveCall } from './active-calls.ts';
import { addPostEditResult } from './add-post-edit-result.ts';
import { collectDenials } from './collect-denials.ts';
import { type ApprovalGate, getApprovalIfNeeded } from './get-approval-if-needed.ts';
import { runWrappedCall, throwNothingDone } from './run-wrapped-call.ts';
import { type OutputReceiver, streamOutput } from './stream-output.ts';

export interface Caller {
  readonly session: Session;
  /** See `SessionStore.refresh`. */
  readonly sessionMoves?: number | undefined;
  readonly signal: AbortSignal;
  /** Ends the call as `signal` does. Absent: the end of its session does not end the call. */
  readonly sessionSignal?: AbortSignal | undefined;
  /**
   * Limits the answer for a model to this many bytes in each channel (text, structured content); `next_page` has the
   * rest. Absent: the caller is a program and gets the whole answer.
   */
  readonly maxAnswerBytes?: number | undefined;
  /**
   * Called with the current activity of the call, without secrets, whenever it changes. Absent: nobody wants to know.
   */
  readonly onActivity?: ((activity: Activity) => void) | undefined;
  /** Receives what the command of the call prints, while it runs. Absent: the answer alone is enough. */
  readonly onOutput?: OutputReceiver | undefined;
  /**
   * How to ask the person at the caller's client. Absent: nobody can be asked, and the call does not wait. `later`: a
   * call that needs approval throws `E_APPROVAL_REQUIRED` before anybody is asked; the caller repeats it on a path
   * where a person can be asked.
   */
  readonly asker?: Asker | 'later' | undefined;
  /** Checks the call, and asks a person if it needs an approval, but runs nothing. */
  readonly onlyAsks?: true | undefined;
}

export interface RunInWorkspaceOptions {
  readonly workspaces: WorkspaceSet;
  /** The tools that work in a read-only workspace. Absent: all tools with `read` access. */
  readonly onReadOnly?: ReadonlySet<string> | undefined;
  /** Absent: a call that needs approval is refused. */
  readonly gate?: ApprovalGate | undefined;
  /** Absent: there is no audit trail. */
  readonly journal?: CallJournal | undefined;
  readonly secrets: Secrets;
  readonly renderDiagram: RenderDiagram;
  /** Runs formatters and linters after a write. */
  readonly effects: PostEditChecks;
  readonly emit: Emit;
}

/** A call that the toolbox has accepted. */
export interface AdmittedCall {
  readonly call: ActiveCall;
  /** Reports one denial of the sandbox policy as a violation. */
  reportViolation(denial: SandboxDenial): void;
}

interface AdmittedWorkspaceCall extends AdmittedCall {
  readonly tool: Tool;
  readonly rawInput: unknown;
  readonly workspace: Workspace;
  readonly caller: Caller;
}

const maxTitle = 200;
function toWorkspaceCall(
  { name, access, reportsChanges, leavesFiles, byproducts }: Tool,
  { input: { command, file_path: file, path } }: PreparedCall,
  { session, signal }: ToolContext,
  secrets: RunInWorkspaceOptions['secrets'],
): WorkspaceCall {
  const shown = String([command, file, path].find((value) => typeof value === 'string') ?? '');
  const title = secrets.redact(shown).slice(0, maxTitle);
  return { tool: name, access, session: session.id, title, signal, reportsChanges, leavesFiles, byproducts };
}

/** Collects the notices of `Workspace.wrapCall` about what it could not do, each once. */
function collectNotices() {
  const [unkept, unstored]: [string[], string[]] = [[], []];
  const into = (list: string[]) => (words: string) => void (list.includes(words) || list.push(words));
  return { unkept, unstored, handlers: { onNotUndoable: into(unkept), onUnstored: into(unstored) } };
}

/**
 * Runs one tool in one workspace. Parses the input, checks access and asks for approval, in this order, so that nobody
 * is asked about a call that cannot run.
 */
export function createRunInWorkspace(options: RunInWorkspaceOptions) {
  const { onReadOnly, journal, secrets, effects } = options;
  const reportUnkept = createNotUndoableNotices(options.emit);

  return async function runInWorkspace(admitted: AdmittedWorkspaceCall): Promise<ToolResult> {
    const { tool, rawInput, workspace, caller, call, reportViolation } = admitted;
    const base = workingDirectoryIn(caller.session.workingDirectory, workspace.name);
    const { reportDenials, append } = collectDenials(reportViolation);
    const output = caller.onOutput && streamOutput(caller.onOutput, { secrets, signal: call.signal });
    const context = toContext(admitted, options, {
      base,
      reportDenials,
      follower: { begins: call.showOutput, observe: output?.observe, environment: output?.environment },
    });
    const prepared = tool.prepare(rawInput, base);
    mustBePossible(tool, prepared, workspace);
    const agreed = await getApprovalIfNeeded(tool, prepared, context, caller, options).catch(throwNothingDone);
    if (caller.onlyAsks) return { text: '', structured: { workspace: workspace.name } };
    call.mustEndWithin(tool.timeoutMs, tool.name);
    await checkQuota(tool, workspace).catch(throwNothingDone);
    const begun = recordBegin(tool, context, admitted);
    const work = async (reporter?: ChangeReporter) => run(tool, prepared, agreed, reporter).finally(output?.end);
    const { unkept, unstored, handlers } = collectNotices();
    const wrapped = { ...toWorkspaceCall(tool, prepared, context, secrets), id: call.id, ...handlers };
    openSandboxEarly(prepared, context);
    context.onActivity?.(() => wrapped.title);
    const result = addNotices(append(await runWrappedCall(workspace, wrapped, { begun, work })), unstored);
    return writeNotices(tool.access === 'read' ? result : reportUnkept(result, workspace.name, unkept));
  };

  function mustBePossible(tool: Tool, { leavesRunning }: PreparedCall, workspace: Workspace): void {
    if (tool.reach !== 'none') checkAccess(workspace, tool, onReadOnly);
    if (workspace.isFleeting && leavesRunning) throw cannotRunInBackground(tool.name);
  }

  async function run(tool: Tool, prepared: PreparedCall, context: ToolContext, reporter?: ChangeReporter) {
    const watch = tool.access === 'write' ? watchDiagnosticsOfEdit(context) : undefined;
    const { touched, replacement, ...result } = await prepared.run(pin(tool, watch?.context ?? context));
    if (replacement) reporter?.changed(replacement);
    if (touched === undefined) return result;
    // Formatters and linters run code of the workspace: a caller who needs approval to run code gets none of them.
    const runsPrograms = !needsApproval(context.workspace.permission, { access: 'execute' });
    return addPostEditResult(result, await effects.runAfter(context, touched, { runsPrograms, watch, reporter }));
  }

  /**
   * Writes the beginning of the call to the audit trail. The call changes nothing before that is done; files that the
   * history needs are read meanwhile.
   */
  async function recordBegin(
    { name: tool, access }: Tool,
    { session, workspace }: ToolContext,
    { call, rawInput }: Pick<AdmittedWorkspaceCall, 'call' | 'rawInput'>,
  ): Promise<void> {
    if (!journal || access === 'read') return;
    const about = summarizeArguments({ tool, workspace: workspace.name }, secrets.redact);
    const known = workspace.id === workspace.name ? {} : { workspaceId: workspace.id };
    await journal.began(session.id, { ...about, ...known, title: titleOfCall(rawInput, secrets.redact) }, call.id);
  }
}

function toContext(
  { workspace, caller, call }: AdmittedWorkspaceCall,
  { workspaces, secrets, renderDiagram }: RunInWorkspaceOptions,
  more: Pick<ToolContext, 'base' | 'reportDenials' | 'follower'>,
): ToolContext {
  const { session } = caller;
  return {
    ...{ workspace, workspaces, session, renderDiagram, signal: call.signal },
    ...{ secrets: recordGivenSecrets(session, secrets), onActivity: withoutSecrets(caller, secrets) },
    ...more,
  };
}

/** Tools that change files are checked by how much they add, so that a change that frees space passes. */
async function checkQuota({ keepsMore, access, isFollowUp }: Tool, workspace: Workspace): Promise<void> {
  if (access === 'read') return;
  if (keepsMore || (access === 'execute' && !isFollowUp)) await workspace.checkQuota?.();
}

/** Opens the sandbox that a call will use while the history captures the files before it. */
function openSandboxEarly({ usesSandbox }: PreparedCall, { workspace, session }: ToolContext): void {
  if (usesSandbox && workspace.mayOpenEarly) session.sandboxes.open(workspace.name);
}

/**
 * Fixes the working directory of a command: a person approved it for that directory, and the session may change
 * directory meanwhile.
 */
function pin({ access }: Tool, context: ToolContext): ToolContext {
  if (access !== 'execute') return context;
  const session = pinWorkingDirectory(context.session, context.workspace.name, context.base);
  const { onActivity } = context;
  return { ...context, session: onActivity ? reportingActivity(session, onActivity) : session };
}

function withoutSecrets({ onActivity }: Caller, { redact }: Secrets): ToolContext['onActivity'] {
  return onActivity && ((activity) => onActivity(() => toActivityLine(redact(activity()))));
}

function cannotRunInBackground(tool: string): AppError {
  const reason = 'the sandbox ends with the call here, so no command can go on in the background';
  return new AppError('E_INVALID_INPUT', `${tool}: ${reason}`);
}
