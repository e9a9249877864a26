import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { makeDirectory, runCroft, startServer } from '../harness.ts';
import { type Account, adminToken, mustBe, openAccount } from './platform.ts';

export type Server = Awaited<ReturnType<typeof startServer>>;
export type Installation = ReturnType<typeof openInstallation>;

/** One data directory, the servers started on it one after the other, and the operator's commands. */
export function openInstallation(args: readonly string[] = [], more: Record<string, string> = {}) {
  const [workspace, data] = [makeDirectory(), makeDirectory()];
  const env = { CROFT_ADMIN_TOKEN: adminToken, ...more };
  const servers: Server[] = [];
  return {
    data: data.path,
    at: data.at,
    serveArgs: ['--workspace', workspace.path, '--data', data.path, ...args],
    async start(more: readonly string[] = []): Promise<Server> {
      const server = await startServer(['--workspace', workspace.path, '--data', data.path, ...args, ...more], { env });
      servers.push(server);
      return server;
    },
    /** Runs a command of the operator on this data. */
    croft: (...command: readonly string[]) =>
      runCroft([...command, '--data', data.path, ...args], { cwd: workspace.path }),
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server[Symbol.asyncDispose]();
      data[Symbol.dispose]();
      workspace[Symbol.dispose]();
    },
  };
}

/** Two installations that share only keys and the files of workspaces, as on a network file system. */
export function openNeighbours(args: readonly string[] = []): [Installation, Installation] {
  const key = () => randomBytes(32).toString('base64url');
  const keys = { CROFT_KEYS: `pepper ${key()},k1 ${key()}` };
  const [one, other] = [openInstallation(args, keys), openInstallation(args, keys)];
  mkdirSync(one.at('workspaces'));
  symlinkSync(one.at('workspaces'), other.at('workspaces'));
  return [one, other];
}

export async function kill({ child }: Pick<Server, 'child'>): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

export async function addAccount({ url }: Pick<Server, 'url'>, username: string): Promise<Account> {
  const admin = openAccount(url, adminToken, '');
  const { secret, account } = mustBe(201, await admin.send('POST', '/accounts', { username }));
  return openAccount(url, secret, account.accountId);
}

/** The same account on another server. */
export function moveTo({ url }: Pick<Server, 'url'>, { secret, accountId }: Account): Account {
  return openAccount(url, secret, accountId);
}
