import { AppError } from '@croft/protocol';
import type { Approvals, Asker } from '../approvals/approvals.ts';
import { allowControlFiles } from '../files/allow-control-files.ts';
import type { GuardedPath } from '../files/files.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { PreparedCall, Tool, ToolContext } from '../tools/tool.ts';
import { needsApproval } from '../workspace/permission.ts';
import type { ShownNetwork, Workspace } from '../workspace/workspace.ts';

/** The approvals of one agent, and whose agent it is. */
export interface ApprovalGate {
  readonly approvals: Approvals;
  readonly accountId: string;
  readonly agentId: string;
  /**
   * True when no person reads a list of approvals: only the person at the caller's own client can be asked
   * (elicitation).
   */
  readonly isOnTheSpot?: boolean | undefined;
}

interface ApprovalCaller {
  /** See `Caller.asker`. */
  readonly asker?: Asker | 'later' | undefined;
  /** See `Caller.onlyAsks`. */
  readonly onlyAsks?: true | undefined;
}

interface ApprovalOptions {
  readonly gate?: ApprovalGate | undefined;
  readonly secrets: Secrets;
}

/** More hosts than a person reads before a decision. */
const maxHosts = 50;

const nobodyHint = 'Nobody can approve this call here: do not repeat it. Ask the operator for another permission mode.';
const askNobody: Asker = { label: 'nobody', waitMs: 0 };

/** Asks for approval if needed. Returns the context to run in, where the approved control files may be changed. */
export async function getApprovalIfNeeded(
  tool: Tool,
  prepared: PreparedCall,
  context: ToolContext,
  { asker = askNobody, onlyAsks }: ApprovalCaller,
  { gate, secrets }: ApprovalOptions,
): Promise<ToolContext> {
  const { workspace } = context;
  if (onlyAsks && !canAsk(gate, asker)) await mustGuardNothing(prepared, workspace);
  const guarded = canAsk(gate, asker) ? await findGuarded(prepared, workspace) : [];
  if (guarded.length > 0 || needsApproval(workspace.permission, tool))
    await ask(tool, prepared, context, { asker: withOnlyAsks(asker, onlyAsks), guarded, gate, secrets });
  return allowing(context, guarded);
}

interface AskOptions extends ApprovalOptions {
  readonly asker: Asker | 'later';
  readonly guarded: readonly GuardedPath[];
}

async function ask(
  tool: Tool,
  { input, preview }: PreparedCall,
  context: ToolContext,
  { asker, guarded, gate, secrets }: AskOptions,
): Promise<void> {
  if (asker === 'later')
    throw new AppError('E_APPROVAL_REQUIRED', `a person has to agree to this call of ${tool.name}`);
  if (!gate)
    throw new AppError('E_APPROVAL_REQUIRED', `nobody can be asked here whether ${tool.name} may run`, {
      hint: nobodyHint,
    });
  const { accountId, agentId, approvals } = gate;
  const { session, signal } = context;
  const call = {
    ...{ accountId, agentId, session: session.id, inbox: session.inbox },
    ...{ tool: tool.name, workspace: nameFully(tool, context), input },
    ...(guarded.length > 0 && { control: guarded.map(({ path }) => path) }),
    setting: toSetting(tool, context, guarded),
    preview: async () => secrets.redact([...guarded.map(toWarning), await preview(context)].join('\n')),
  };
  await approvals.mustBeApproved(call, asker, signal);
}

/**
 * Names the workspace for an approval: its name for people, and its id, which stays the same. For a command also the
 * directory it starts in; other tools have root-relative paths in their input. The directory is not part of the
 * preview, where the agent could write the same words.
 */
function nameFully({ access }: Tool, { workspace: { id, name }, base }: ToolContext): string {
  const known = id === name ? name : `${name} (${id})`;
  return access === 'execute' && base !== '' ? `${known}, in ${JSON.stringify(base)}` : known;
}

function toSetting({ access }: Tool, { workspace, base }: ToolContext, guarded: readonly GuardedPath[]) {
  const { id: workspaceId, permission: permissionMode, network } = workspace;
  const controlFiles = guarded.map(({ path }) => path);
  const directory = access === 'execute' ? base : '';
  return {
    ...{ workspaceId, permissionMode, access, directory },
    ...(access === 'execute' && network && toShownNetwork(network)),
    ...(controlFiles.length > 0 && { controlFiles }),
  };
}

function toShownNetwork({ mode, hosts }: ShownNetwork) {
  return { network: mode, ...(mode === 'restricted' && { hosts: hosts.slice(0, maxHosts) }) };
}

function canAsk(gate: ApprovalGate | undefined, asker: Asker | 'later'): boolean {
  return gate !== undefined && (!gate.isOnTheSpot || asker === 'later' || asker.label === 'elicitation');
}

/** Returns the control files that the call changes and that a person can approve. */
async function findGuarded({ changes = [] }: PreparedCall, { files }: Workspace): Promise<readonly GuardedPath[]> {
  return changes.length === 0 ? [] : ((await files.controlFiles?.(changes)) ?? []);
}

/** Throws as the call itself would: nobody can be asked about control files here. */
async function mustGuardNothing(prepared: PreparedCall, workspace: Workspace): Promise<void> {
  const [first] = await findGuarded(prepared, workspace);
  if (!first) return;
  throw new AppError('E_CONTROL_FILE', `${first.path}: ${first.why}`, { details: { path: first.path } });
}

function withOnlyAsks(asker: Asker | 'later', onlyAsks: true | undefined): Asker | 'later' {
  return onlyAsks && asker !== 'later' ? { ...asker, onlyAsks } : asker;
}

function toWarning({ path, why }: GuardedPath): string {
  return `CONTROL FILE ${path}: ${why}\n`;
}

/** Lets the call change exactly the control files that a person approved. */
function allowing(context: ToolContext, guarded: readonly GuardedPath[]): ToolContext {
  if (guarded.length === 0) return context;
  const { workspace } = context;
  const files = allowControlFiles(workspace.files, { paths: guarded.map(({ path }) => path) });
  return { ...context, workspace: { ...workspace, files } };
}
