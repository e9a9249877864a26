import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { notFound } from '../../core/accounts/access/registry-errors.ts';
import type { Actor, Registry } from '../../core/accounts/ports/registry.ts';
import { cannotForkOnRunner, isInBucket } from '../../core/accounts/surface/workspace-location.ts';
import type { Forks } from '../../core/history/ports/forks.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { namespaceOf } from '../../storages/index.ts';
import type { FleetWorkspaces } from '../fleet/fleet-workspaces.ts';
import { toForksForRest } from '../workspaces/history-for-rest.ts';
import type { OpenedWorkspaces, WorkspaceRecord } from '../workspaces/opened-workspaces.ts';
import { createForkWorkspaceRecords, type Forker, type ForkWorkspaceRecords } from './fork-workspace-records.ts';
import { type ForkRegistrar, openLocalForks } from './local-forks.ts';
import type { Overlays } from './overlays.ts';
import { createRunnerForks } from './runner-forks.ts';
import { openS3Forks } from './s3-forks.ts';

interface AccountForksOptions {
  readonly data: string;
  readonly layered: Overlays;
  readonly openedWorkspaces: OpenedWorkspaces;
  /** The registry without the closing hooks: an agent that forks keeps its open sessions. */
  readonly registry: Pick<Registry, 'workspaces' | 'agents'>;
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
  /** Workspaces on runners. */
  readonly remote: Pick<FleetWorkspaces, 'openForks' | 'remove'>;
}

/**
 * Forks of accounts' workspaces. Each fork is a workspace record of its own, and its files start as a copy of the
 * parent's.
 */
export function createAccountForks(options: AccountForksOptions) {
  const { layered, openedWorkspaces, registry, openObjects, remote } = options;

  function open(record: WorkspaceRecord, forker: Forker): Forks {
    const { home: runner } = record.config;
    if (runner !== undefined) return openOnRunner(record, runner, createForkWorkspaceRecords(registry, record, forker));
    const { tree, directoryFd, history } = openedWorkspaces.of(record);
    const { provider } = record.config.storage;
    if (!history)
      throw new AppError(
        'E_INVALID_INPUT',
        `a workspace with the storage ${provider} cannot be forked on this server`,
        { hint: 'Create a workspace, and copy the files into it.' },
      );
    const records = createForkWorkspaceRecords(registry, record, forker);
    if (provider === 's3') return openS3Forks(record, history, { openedWorkspaces, records, openObjects });
    const registrar = createForkRegistrar(options, records, record.accountId);
    return openLocalForks(layered, { ...{ tree, directoryFd, history, registrar }, key: record.id, name: record.name });
  }

  /** Forks a workspace on the runner that has its files. */
  function openOnRunner(record: WorkspaceRecord, runner: string, records: ForkWorkspaceRecords): Forks {
    if (isInBucket(record)) throw cannotForkOnRunner();
    const { accountId } = record;
    return createRunnerForks(record, {
      records,
      open: () => remote.openForks(record, runner),
      removeFiles: (id) => remote.remove({ accountId, id }, runner),
    });
  }

  return {
    /**
     * The audit trail attributes the fork's changes to the agent. Throws when a workspace in this storage cannot be
     * forked.
     */
    ofAgent: (record: WorkspaceRecord, agentId: string): Forks =>
      open(record, { actor: { accountId: record.accountId, label: `agent ${agentId}`, scopes: ['write'] }, agentId }),

    /** Forks for a person with a key. Throws `E_NOT_FOUND`. */
    async of(actor: Actor, workspaceId: string): Promise<Forks> {
      const record = await registry.workspaces.open(actor.accountId, workspaceId);
      if (!record) throw notFound('Workspace');
      return toForksForRest(open(record, { actor }), openedWorkspaces.of(record));
    },
  };
}

/** Registers forks of a workspace on this machine as workspaces of the account. */
function createForkRegistrar(
  { openedWorkspaces, data }: AccountForksOptions,
  records: ForkWorkspaceRecords,
  accountId: string,
): ForkRegistrar {
  return {
    async reserve(name) {
      const { id } = await records.add(name);
      const namespace = namespaceOf(accountId, id);
      const target = join(data, 'workspaces', namespace);
      return { id: namespace, target, workspaceId: id, undo: () => records.undo(id) };
    },
    onCreated: (_, { name, workspaceId = '' }) => records.attach(name, workspaceId),
    isVisible: ({ workspaceId = '' }) => records.has(workspaceId),
    openTree: async (_, { workspaceId = '' }) => openedWorkspaces.of(await records.mustFind(workspaceId)).tree(),
    remove: (_, { workspaceId = '' }) => records.remove(workspaceId),
  };
}
