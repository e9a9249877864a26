import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { notFound } from '../core/accounts/refusals.ts';
import type { Actor, Registry } from '../core/accounts/registry.ts';
import type { Forks } from '../core/history/forks.ts';
import type { ObjectStore } from '../core/objects.ts';
import { isInBucket, notFromThere } from '../core/runners/home.ts';
import { namespaceOf } from '../storages/index.ts';
import { createForkedRecords, type ForkedRecords, type Forker } from './forked-records.ts';
import type { Layered } from './layered.ts';
import { type ForkHome, openForks } from './local-forks.ts';
import { toPlaceForks } from './place-history.ts';
import type { Places, WorkspaceRecord } from './places.ts';
import type { FleetPlaces } from './runners/fleet-places.ts';
import { createForksThere } from './runners/forks-there.ts';
import { openS3Forks } from './s3-forks.ts';

export interface AccountForksOptions {
  readonly data: string;
  readonly layered: Layered;
  readonly places: Places;
  /** The plain one: an agent that forks goes on with what it has open. */
  readonly registry: Pick<Registry, 'workspaces' | 'agents'>;
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
  /** Of those that are on runners. */
  readonly remote: Pick<FleetPlaces, 'openForks' | 'remove'>;
}

/** Forks of accounts' workspaces: records of their own, whose files begin as what their parents were. */
export function createAccountForks(options: AccountForksOptions) {
  const { layered, places, registry, openObjects, remote } = options;

  function open(record: WorkspaceRecord, forker: Forker): Forks {
    const { home: runner } = record.config;
    if (runner !== undefined) return openThere(record, runner, createForkedRecords(registry, record, forker));
    const { tree, directory, history } = places.of(record);
    const { provider } = record.config.storage;
    if (!history)
      throw new AppError('E_INVALID_INPUT', `a workspace that is kept in ${provider} cannot be forked on this server`);
    const records = createForkedRecords(registry, record, forker);
    if (provider === 's3') return openS3Forks(record, history, { places, records, openObjects });
    const home = createHome(options, records, record.accountId);
    return openForks(layered, { ...{ tree, directory, history, home }, key: record.id, name: record.name });
  }

  /** Where its files are. */
  function openThere(record: WorkspaceRecord, runner: string, records: ForkedRecords): Forks {
    if (isInBucket(record)) throw notFromThere();
    const { accountId } = record;
    return createForksThere(record, {
      records,
      open: () => remote.openForks(record, runner),
      removeFiles: (id) => remote.remove({ accountId, id }, runner),
    });
  }

  return {
    /** For the audit trail its changes are the agent's. Throws where a workspace of its storage cannot be forked. */
    ofAgent: (record: WorkspaceRecord, agentId: string): Forks =>
      open(record, { actor: { accountId: record.accountId, label: `agent ${agentId}`, scopes: ['write'] }, agentId }),

    /** For people. Throws `E_NOT_FOUND`. */
    async of(actor: Actor, workspaceId: string): Promise<Forks> {
      const record = await registry.workspaces.open(actor.accountId, workspaceId);
      if (!record) throw notFound('Workspace');
      return toPlaceForks(open(record, { actor }), places.of(record));
    },
  };
}

/** Where forks of a workspace on this machine are. */
function createHome({ places, data }: AccountForksOptions, records: ForkedRecords, accountId: string): ForkHome {
  return {
    async newSite(name) {
      const { id } = await records.add(name);
      const namespace = namespaceOf(accountId, id);
      const target = join(data, 'workspaces', namespace);
      return { id: namespace, target, workspaceId: id, undo: () => records.undo(id) };
    },
    opened: (_, { name, workspaceId = '' }) => records.attach(name, workspaceId),
    has: ({ workspaceId = '' }) => records.has(workspaceId),
    openTree: async (_, { workspaceId = '' }) => places.of(await records.mustFind(workspaceId)).tree(),
    remove: (_, { workspaceId = '' }) => records.remove(workspaceId),
  };
}
