import { AppError } from '@croft/protocol';
import type { AttachedWorkspace } from '../core/accounts/cascade.ts';
import type { ResourceView, SandboxConfig } from '../core/accounts/registry.ts';
import { toCommandSettings } from '../core/accounts/sandbox-settings.ts';
import { setUp } from '../core/commands/with-settings.ts';
import type { Workspace } from '../core/workspace.ts';
import { ofAgent } from './own-transactions.ts';
import type { Place } from './places.ts';
import { openSandbox, type RuntimeMeans } from './runtime-means.ts';

/** A workspace that an account keeps, as one agent has it. */
export function openWorkspace(attached: AttachedWorkspace, means: RuntimeMeans, agentId: string): Workspace {
  const { name, record, sandbox, reads } = attached;
  const direct = reads === 'direct' ? means.places.directly(record, name) : undefined;
  const place = means.places.of(record);
  const { root, files } = direct ?? place.named(name);
  const { key, directory, mustBeThere, around, watch } = place;
  return {
    ...{ id: record.id, name, root, files, watch },
    access: sandbox ? 'read-write' : 'read-only',
    permission: sandbox?.config.permissionMode ?? 'ask',
    commands: sandbox && toCommandSettings(sandbox.config),
    ...means.furnish({ ...{ name, root, key, directory, mustBeThere }, files }),
    ...(direct ? { listFiles: direct.listFiles } : { around }),
    checkRoom: () => means.room.checkStorage(record.accountId),
    ...(sandbox &&
      place.history && { history: place.history, transactions: toTransactions(attached, place, means, agentId) }),
    // Whoever may change nothing here makes no other workspace of it either.
    ...(sandbox && place.history && { forks: means.openForks(record, agentId) }),
    openSandbox: createOpening(attached, place, means),
  };
}

type Opened = Pick<AttachedWorkspace, 'name' | 'record' | 'sandbox'>;

/** Commands that are set for the first sandbox run in the first, those for later ones in all others. */
function createOpening(attached: Opened, place: Place, means: RuntimeMeans) {
  const { sandbox } = attached;
  let isFirst = true;
  return async () => {
    if (!sandbox) throw new AppError('E_READ_ONLY', 'workspace is read-only: no sandbox available for this command');
    place.mustBeThere();
    const opened = await openIn(await place.directory(), sandbox, attached, means);
    const commands = isFirst ? sandbox.config.onCreate : sandbox.config.onResume;
    isFirst = false;
    return setUp(opened, commands ?? []);
  };
}

function openIn(
  directory: number,
  sandbox: ResourceView<SandboxConfig>,
  { name, record }: Opened,
  means: RuntimeMeans,
) {
  const place = { directory, workspacePath: `/workspaces/${name}` };
  return means.room.openSandbox(record.accountId, () => openSandbox(sandbox.config, place, means));
}

function toTransactions(attached: Opened, { tree, directory }: Place, means: RuntimeMeans, agentId: string) {
  const { sandbox } = attached;
  const all = means.openTransactions({
    ...{ tree, directory },
    openSandbox: (layer) => {
      if (!sandbox) throw new AppError('E_READ_ONLY', 'workspace is read-only: no sandbox available for this command');
      return openIn(layer, sandbox, attached, means);
    },
  });
  return ofAgent(all, agentId);
}
