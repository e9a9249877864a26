import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { ErrorEnvelope } from '@croft/protocol';
import { serve } from '@hono/node-server';
import { createAccountForks } from '../../src/app/account-forks.ts';
import { createHistories } from '../../src/app/histories.ts';
import { createLayered, toKeptForks } from '../../src/app/layered.ts';
import { openPlaces } from '../../src/app/open-places.ts';
import type { WorkspaceRecord } from '../../src/app/places.ts';
import { createFleet } from '../../src/app/runners/fleet.ts';
import { createFleetPlaces } from '../../src/app/runners/fleet-places.ts';
import { createWorkspaceDoors } from '../../src/app/workspace-doors.ts';
import type { Quotas } from '../../src/core/accounts/context.ts';
import { createRegistry } from '../../src/core/accounts/create-registry.ts';
import { createVault } from '../../src/core/accounts/create-vault.ts';
import type { Records } from '../../src/core/accounts/records.ts';
import { notFound } from '../../src/core/accounts/refusals.ts';
import { createApprovals } from '../../src/core/approvals/create-approvals.ts';
import type { FileDoor } from '../../src/core/content/file-door.ts';
import { createTickets } from '../../src/core/terminals/tickets.ts';
import { createDirectoryWatcher } from '../../src/history/watch-directory.ts';
import { createKeyring, createTokenHash } from '../../src/lib/crypto/keyring.ts';
import { openRecords } from '../../src/records/index.ts';
import type { Limits, Platform } from '../../src/rest/platform.ts';
import { createRestServer } from '../../src/rest/server.ts';
import { createKeptWorkspaces, namespaceOf } from '../../src/storages/index.ts';
import { makeDirectory } from '../harness.ts';
import { createStandInAgents } from './stand-in-agents.ts';

export const adminToken = 'the-admin-token-of-these-tests';
export const serverToken = 'the-server-token-of-these-tests';

export interface GroundOptions {
  readonly limits?: Partial<Limits>;
  readonly maxBodyBytes?: number;
  readonly quotas?: Partial<Quotas>;
  removeFiles?: Platform['removeFiles'];
  /** The door of a workspace, made of the one there is. */
  door?(door: FileDoor, record: WorkspaceRecord): FileDoor;
}

export type Ground = Awaited<ReturnType<typeof openGround>>;

/** A server on a free port with records of its own on a disk; only the sandboxes behind the agents are not there. */
export async function openGround(options: GroundOptions = {}) {
  const { limits, maxBodyBytes = 16 * 1024 * 1024, removeFiles } = options;
  const directory = makeDirectory();
  const records = await openRecords({ file: directory.at('croft.db') });
  /** It can be stopped, where what a moment brings must not depend on how long the test takes. */
  const clock: { aheadMs: number; stoppedAt?: number } = { aheadMs: 0 };
  const now = () => (clock.stoppedAt ?? Date.now()) + clock.aheadMs;
  const vault = createVault(createKeyring([{ id: 'one', key: randomBytes(32) }]), createTokenHash(randomBytes(32)));
  const quotas = { ...context.quotas, ...options.quotas };
  const registryOn = (on: Records) =>
    createRegistry({ ...context, quotas, records: on, vault, now: () => new Date(now()) });
  const registry = registryOn(records);
  const means = { records, vault, now: () => new Date(now()), ttlMs: 600_000, emit: () => {} };
  const { approvals, desk } = createApprovals(means);
  const agents = createStandInAgents({ registry, records, approvals });
  const errors: Error[] = [];
  const onWarning = (message: string) => errors.push(new Error(message));
  const histories = createHistories({ data: directory.path, onWarning });
  const layered = createLayered(directory.path, histories, onWarning);
  const kept = createKeptWorkspaces(directory.path, toKeptForks(layered));
  const openObjects = async () => {
    throw new Error('there is no bucket here');
  };
  const fleet = createFleet({ now: () => new Date(now()), emit() {} });
  const remote = createFleetPlaces({
    ...{ fleet, buckets: { serve: () => undefined } },
    ...{ openWorkspace: openObjects, removeWorkspace: openObjects },
  });
  const places = openPlaces({ data: directory.path, kept, histories, openObjects, remote, emit() {}, onWarning });
  const forks = createAccountForks({ data: directory.path, layered, places, registry, openObjects, remote });
  const watch = createDirectoryWatcher();
  const files = createWorkspaceDoors({
    workspaces: registry.workspaces,
    linkKey: randomBytes(32),
    async open(record) {
      const { files: own, handle } = kept.open(namespaceOf(record.accountId, record.id), record.id);
      const door: FileDoor = {
        ...{ files: own, access: 'read-write' },
        watch: (onChange, signal) => watch(handle, onChange, signal),
      };
      return options.door?.(door, record) ?? door;
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
      ...{ adminToken, records, vault, registry, registryOn, approvals: desk, agents: agents.door, files, limits, now },
      forks,
      viewRunner: fleet.view,
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
    ...{ url, port, registry, records, clock, errors, stopping, ran: agents.ran },
    send: (method: string, path: string, options?: SendOptions) => send(url, method, path, options),
    /** Where the files of a workspace are on this machine. */
    directoryOf(accountId: string, workspaceId: string): string {
      const namespace = namespaceOf(accountId, workspaceId);
      kept.open(namespace, workspaceId);
      return directory.at(`workspaces/${namespace}`);
    },
    /** Every row of every table. */
    dump: () => dump(directory.at('croft.db')),
    async addAccount(username: string) {
      const { json } = await send(url, 'POST', '/accounts', { token: adminToken, body: { username } });
      return { accountId: json.account.accountId as string, token: json.secret as string };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      files.feeds.close();
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
  /** Sent as it is. */
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

/** The code of a whole envelope, and nothing besides it. */
export function codeOf({ json }: Sent): string {
  return ErrorEnvelope.strict().parse(json).error.code;
}
