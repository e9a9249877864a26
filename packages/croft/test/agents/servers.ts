import { once } from 'node:events';
import { makeDirectory, runCroft, startServer } from '../harness.ts';
import { type Account, adminToken, mustBe, openAccount } from './ground.ts';

export type Server = Awaited<ReturnType<typeof startServer>>;
export type House = ReturnType<typeof openHouse>;

/** One data directory, the servers that are started on it one after the other or at once, and the operator beside them. */
export function openHouse(args: readonly string[] = []) {
  const [workspace, data] = [makeDirectory(), makeDirectory()];
  const env = { CROFT_ADMIN_TOKEN: adminToken };
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
    /** A command of the operator, on this data. */
    croft: (...command: readonly string[]) =>
      runCroft([...command, '--data', data.path, ...args], { cwd: workspace.path }),
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server[Symbol.asyncDispose]();
      data[Symbol.dispose]();
      workspace[Symbol.dispose]();
    },
  };
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

/** The same account, on another server. */
export function moveTo({ url }: Pick<Server, 'url'>, { secret, accountId }: Account): Account {
  return openAccount(url, secret, accountId);
}
