import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { ErrorEnvelope } from '@croft/protocol';
import { serve } from '@hono/node-server';
import { createAccountQuota } from '../../src/app/accounts/account-quota.ts';
import { openAccountWorkspaces } from '../../src/app/accounts/account-workspaces.ts';
import { createWorkspaceFileAccess } from '../../src/app/accounts/workspace-file-access.ts';
import { createFleet } from '../../src/app/fleet/fleet.ts';
import { createFleetWorkspaces } from '../../src/app/fleet/fleet-workspaces.ts';
import { createAccountForks } from '../../src/app/forks/account-forks.ts';
import { createOverlays, toLocalForks } from '../../src/app/forks/overlays.ts';
import { createServerAuditTrail } from '../../src/app/records/server-audit-trail.ts';
import { openSearchBox } from '../../src/app/workspaces/open-search-box.ts';
import type { WorkspaceRecord } from '../../src/app/workspaces/opened-workspaces.ts';
import { createSearchBoxPool } from '../../src/app/workspaces/search-box-pool.ts';
import { createWorkspaceHistories } from '../../src/app/workspaces/workspace-histories.ts';
import { createAccountEvents } from '../../src/core/account-events/account-events.ts';
import { notFound } from '../../src/core/accounts/access/registry-errors.ts';
import { createRecordsSource } from '../../src/core/accounts/audit/audit-source.ts';
import { createBrowserSessions } from '../../src/core/accounts/keys/browser-sessions.ts';
import { createRegistry } from '../../src/core/accounts/lifecycle/create-registry.ts';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import type { AccountQuotas } from '../../src/core/accounts/ports/registry-context.ts';
import { createVault } from '../../src/core/accounts/sealing/create-vault.ts';
import { createApprovals } from '../../src/core/approvals/create-approvals.ts';
import { createOpenSandboxes } from '../../src/core/commands/open-sandboxes.ts';
import type { FileAccess } from '../../src/core/content/changes/file-access.ts';
import { createTickets } from '../../src/core/terminals/terminal-tickets.ts';
import { createDirectoryWatcher } from '../../src/history/tree/watch-directory.ts';
import { createKeyring, createTokenHash } from '../../src/lib/crypto/keyring.ts';
import { openRecords } from '../../src/records/index.ts';
import type { RestLimits, RestPlatform } from '../../src/rest/platform/rest-platform.ts';
import { createRestServer } from '../../src/rest/server.ts';
import { createDataDirectory, namespaceOf } from '../../src/storages/index.ts';
import { makeDirectory } from '../support/harness.ts';
import { createStandInAgents } from './stand-in-agents.ts';

export const adminToken = 'the-admin-token-of-these-tests';
export const serverToken = 'the-server-token-of-these-tests';

export interface RestFixtureOptions {
  readonly limits?: Partial<RestLimits>;
  readonly maxBodyBytes?: number;
  readonly quotas?: Partial<AccountQuotas>;
  removeFiles?: RestPlatform['removeFiles'];
  /** Wraps the file access of a workspace. */
  wrapFileAccess?(access: FileAccess, record: WorkspaceRecord): FileAccess;
}

export type RestFixture = Awaited<ReturnType<typeof openFixture>>;

/** Starts a server on a free port with records of its own on disk. Only the agents' sandboxes are stand-ins. */
export async function openFixture(options: RestFixtureOptions = {}) {
  const { limits, maxBodyBytes = 16 * 1024 * 1024, removeFiles } = options;
  const directory = makeDirectory();
  const ring = [{ id: 'one', key: randomBytes(32) }];
  const trail = createServerAuditTrail({ data: directory.path, ring, onWarning: () => {} });
  const audit = {
    ...trail.keeper,
    onStored(...stored: Parameters<typeof trail.keeper.onStored>) {
      trail.keeper.onStored(...stored);
      events.wake();
    },
  };
  const records = await openRecords({ file: directory.at('croft.db'), audit });
  /** Can be stopped, so that results do not depend on the duration of the test. */
  const clock: { aheadMs: number; stoppedAt?: number } = { aheadMs: 0 };
  const now = () => (clock.stoppedAt ?? Date.now()) + clock.aheadMs;
  const vault = createVault(createKeyring(ring), createTokenHash(randomBytes(32)));
  const quotas = { ...context.quotas, ...options.quotas };
  const registryOn = (on: Records) =>
    createRegistry({ ...context, quotas, records: on, vault, now: () => new Date(now()) });
  const registry = registryOn(records);
  const dependencies = { records, vault, now: () => new Date(now()), ttlMs: 600_000, emit: () => {} };
  const { approvals, approvalInbox } = createApprovals(dependencies);
  const events = createAccountEvents({
    sourcesOf: (accountId) => [createRecordsSource({ records, vault }, accountId)],
    newest: async () => (await records.glance(({ audit }) => audit.last()))?.rows ?? 0,
    now: () => new Date(now()),
    pollMs: 50,
  });
  const agents = createStandInAgents({ registry, records, approvals });
  const errors: Error[] = [];
  const onWarning = (message: string) => errors.push(new Error(message));
  const histories = createWorkspaceHistories({ data: directory.path, onWarning });
  const layered = createOverlays(directory.path, histories, onWarning);
  const kept = createDataDirectory(directory.path, toLocalForks(layered));
  const openObjects = async () => {
    throw new Error('there is no bucket here');
  };
  const fleet = createFleet({ now: () => new Date(now()), emit() {} });
  const remote = createFleetWorkspaces({
    ...{ fleet, buckets: { serve: () => undefined } },
    ...{ openWorkspace: openObjects, removeWorkspace: openObjects },
  });
  const room = createAccountQuota({
    limits: { sandboxes: 100, storageBytes: Number.MAX_SAFE_INTEGER },
    measure: async () => ({ bytes: 0, historyBytes: 0 }),
    now: Date.now,
  });
  const accountWorkspaces = openAccountWorkspaces({
    data: directory.path,
    localWorkspaces: kept,
    histories,
    openObjects,
    accountQuota: room,
    remote,
    emit() {},
    onWarning,
  });
  const forks = createAccountForks({
    data: directory.path,
    layered,
    openedWorkspaces: accountWorkspaces,
    registry,
    openObjects,
    remote,
  });
  const watch = createDirectoryWatcher();
  const searches = createSearchBoxPool();
  const files = createWorkspaceFileAccess({
    workspaces: registry.workspaces,
    linkKey: randomBytes(32),
    async open(record) {
      const { files: own, handle, root, mustBeThere } = kept.open(namespaceOf(record.accountId, record.id), record.id);
      const access: FileAccess = {
        ...{ files: own, access: 'read-write' },
        watch: (onChange, signal) => watch(handle, onChange, signal),
        search: { root, withSearchBox: openSearchBox({ directoryFd: () => handle, mustBeThere }, root, searches) },
      };
      return options.wrapFileAccess?.(access, record) ?? access;
    },
  });
  const stopping = { now: false };
  const rest = createRestServer({
    token: serverToken,
    hostNames: [],
    maxBodyBytes,
    isStopping: () => stopping.now,
    mcp: async () => Response.json({ mcp: true }),
    onError: (error) => errors.push(error),
    platform: {
      ...{
        adminToken,
        records,
        vault,
        registry,
        registryOn,
        approvals: approvalInbox,
        agents: agents.api,
        files,
        limits,
        now,
        events,
        sessions: createBrowserSessions({ records, vault, now: () => new Date(now()) }),
        audit: {
          verify: () => trail.verify(records),
          verifyShared: () => trail.verify(records),
          head: trail.head,
        },
      },
      forks,
      viewRunners: async (tokens) => tokens.map(fleet.view),
      openSandboxes: createOpenSandboxes(() => new Date(now())),
      terminals: { tickets: createTickets(randomBytes(32), now) },
      histories: {
        async of(accountId, workspaceId) {
          const record = await registry.workspaces.open(accountId, workspaceId);
          if (!record) throw notFound('Workspace');
          return histories.of(kept.open(namespaceOf(accountId, workspaceId), workspaceId).handle);
        },
      },
      removeFiles: removeFiles ?? (async (_, ids) => ({ workspaceFiles: ids.length })),
    },
  });
  const server = await listen(rest.fetch);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  return {
    vault,
    ...{ url, port, registry, records, clock, errors, stopping, ran: agents.ran },
    send: (method: string, path: string, options?: SendOptions) => send(url, method, path, options),
    /** Path of the files of a workspace. */
    directoryOf(accountId: string, workspaceId: string): string {
      const namespace = namespaceOf(accountId, workspaceId);
      kept.open(namespace, workspaceId);
      return directory.at(`workspaces/${namespace}`);
    },
    databaseFile: directory.at('croft.db'),
    /** Dumps every row of every table. */
    dump: () => dump(directory.at('croft.db')),
    async addAccount(username: string) {
      const { json } = await send(url, 'POST', '/accounts', { token: adminToken, body: { username } });
      return { accountId: json.account.accountId as string, token: json.secret as string };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      files.feeds.close();
      await searches.close();
      await histories.close();
      kept.close();
      await records[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

const context = {
  providers: [
    {
      name: 'bubblewrap',
      capabilities: { mounts: true, networks: ['allow-all', 'deny-all', 'restricted'] as const, persistent: true },
    },
  ],
  storages: ['local', 's3'],
  opened: ['local'],
  toolNames: ['read', 'bash'],
  quotas: { agents: 500, sandboxes: 500, workspaces: 500, keys: 200, runners: 100, secrets: 100 },
};

function dump(file: string): Record<string, unknown[]> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    return Object.fromEntries(tables.map(({ name }) => [name, database.prepare(`SELECT * FROM ${name}`).all()]));
  } finally {
    database.close();
  }
}

async function listen(fetch: (request: Request, env: unknown) => Response | Promise<Response>): Promise<Server> {
  const { promise, resolve } = Promise.withResolvers<AddressInfo>();
  const server = serve({ fetch, hostname: '127.0.0.1', port: 0, createServer }, resolve) as Server;
  await promise;
  return server;
}

export interface SendOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  /** Raw body. */
  readonly text?: string | Uint8Array<ArrayBuffer> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Sent = Awaited<ReturnType<typeof send>>;

async function send(url: string, method: string, path: string, { token, body, text, headers = {} }: SendOptions = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    ...((text !== undefined || body !== undefined) && { body: text ?? JSON.stringify(body) }),
  });
  const answered = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  const json: any = answered === '' ? undefined : JSON.parse(answered);
  return { status: response.status, headers: response.headers, json, text: answered };
}

/** Returns the code of an error envelope that holds nothing else. */
export function codeOf({ json }: Sent): string {
  return ErrorEnvelope.strict().parse(json).error.code;
}
