import { AppError } from '@croft/protocol';
import type { AttachedWorkspace } from '../../core/accounts/cascade.ts';
import { toCommandSettings, toLimits, toNetwork } from '../../core/accounts/sandbox-settings.ts';
import { setUp, withEnvironment } from '../../core/commands/with-settings.ts';
import { keepHistory } from '../../core/history/around.ts';
import type { Forks } from '../../core/history/forks.ts';
import { openFilesLazily } from '../../core/lazy-files.ts';
import { isInBucket, notFromThere } from '../../core/runners/home.ts';
import type { OfferedWorkspace, WantedSandbox } from '../../core/runners/offer.ts';
import type { Workspace } from '../../core/workspace.ts';
import { ofAgent } from '../own-transactions.ts';
import type { RuntimeMeans } from '../runtime-means.ts';

type Means = Pick<RuntimeMeans, 'furnish' | 'room' | 'limits' | 'sharesNetwork' | 'openForks'>;

/** A workspace on a runner, as one agent has it: everything of it goes there, and nothing to this machine. */
export function openRemoteWorkspace(
  attached: AttachedWorkspace,
  place: OfferedWorkspace | AppError,
  means: Means,
  agentId: string,
): Workspace {
  const { name, record, sandbox } = attached;
  const offered = place instanceof AppError ? toNothing(name, place) : place;
  const { root, files, watch } = offered;
  const isWritable = sandbox !== undefined && offered.access === 'read-write';
  return {
    ...{ id: record.id, name, root, files },
    access: isWritable ? 'read-write' : 'read-only',
    permission: sandbox?.config.permissionMode ?? 'ask',
    commands: sandbox && toCommandSettings(sandbox.config),
    ...means.furnish({ name, root, key: `${record.config.home ?? 'runner'}:${record.id}`, files, ...nowhere }),
    withSearchBox: offered.withSearchBox,
    ...(watch && { watch }),
    ...toHistory(offered, isWritable),
    ...(isWritable && toTransactions(attached, offered, means, agentId)),
    ...(isWritable && { forks: toForks(attached, place, means, agentId) }),
    openSandbox: createOpening(attached, offered, means),
  };
}

/** What stands around calls at the runner remembers them as well. */
function toHistory({ history, around }: OfferedWorkspace, isWritable: boolean): Pick<Workspace, 'history' | 'around'> {
  if (!isWritable || !history) return around ? { around } : {};
  return { history, around: around ?? keepHistory(history) };
}

function createOpening({ record, sandbox }: AttachedWorkspace, offered: OfferedWorkspace, means: Means) {
  let isFirst = true;
  return async () => {
    if (!sandbox) throw new AppError('E_READ_ONLY', 'workspace is read-only: no sandbox available for this command');
    const { config } = sandbox;
    const wanted = toWanted(sandbox, means);
    const opened = await means.room.openSandbox(record.accountId, () => offered.openSandbox(wanted));
    const commands = isFirst ? config.onCreate : config.onResume;
    isFirst = false;
    return setUp(withEnvironment(opened, config.envVars ?? {}), commands ?? []);
  };
}

function toTransactions(
  { sandbox }: AttachedWorkspace,
  { transactions }: OfferedWorkspace,
  means: Means,
  agentId: string,
): Pick<Workspace, 'transactions'> {
  if (!sandbox || !transactions) return {};
  return { transactions: ofAgent(transactions(toWanted(sandbox, means)), agentId) };
}

/** On the very machine, or not at all. */
function toForks(
  { record }: AttachedWorkspace,
  place: OfferedWorkspace | AppError,
  means: Means,
  agentId: string,
): Forks {
  const why = place instanceof AppError ? place : isInBucket(record) && notFromThere();
  if (!why) return means.openForks(record, agentId);
  const refuse = async (): Promise<never> => {
    throw why;
  };
  return { fork: refuse, list: refuse, merge: refuse, remove: refuse };
}

/** What is open to a runner beyond that is its own to say. */
function toWanted({ config }: NonNullable<AttachedWorkspace['sandbox']>, means: Means): WantedSandbox {
  return { limits: toLimits(config, means.limits), network: toNetwork(config, means.sharesNetwork) };
}

/** No directory of this machine stands for it. */
const nowhere = {
  directory(): never {
    throw new AppError('E_SANDBOX_UNAVAILABLE', 'this workspace is on a runner');
  },
  mustBeThere() {},
};

/** Where the machine cannot be had, every call says why. */
function toNothing(name: string, why: AppError): OfferedWorkspace {
  const refuse = async (): Promise<never> => {
    throw why;
  };
  return {
    root: `/workspaces/${name}`,
    access: 'read-write',
    files: openFilesLazily(refuse),
    withSearchBox: refuse,
    openSandbox: refuse,
  };
}
