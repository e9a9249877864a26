import { afterAll, beforeAll } from 'vitest';
import { openDirectoryServer, shareServer } from '../e2e/shared-server.ts';
import { newToken, startRunner, untilRunner } from '../remote/runner-fixture.ts';
import type { McpSession } from '../support/harness.ts';
import { connectAgent, startPlatform } from '../support/servers/platform.ts';

/** Where the files of a workspace are, and with them its language servers. */
export const machines = ['this machine', 'a runner'] as const;
type Machine = (typeof machines)[number];

/** The same as `shareServer`, on this machine, or through a real `croft serve` with a real `croft runner`. */
export function shareCodeWorkspace(machine: Machine, tree: Record<string, string | Buffer> = {}) {
  if (machine === 'this machine') return shareServer(tree);
  return openDirectoryServer(tree, connectThroughRunner);
}

async function connectThroughRunner(directory: string): Promise<Pick<McpSession, 'call' | typeof Symbol.asyncDispose>> {
  const { agent, runner, platform } = await startOnRunner(directory);
  const call = (name: string, args: Record<string, unknown> = {}) => agent.call(name, args, { timeout: 110_000 });
  return {
    call: call as McpSession['call'],
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await runner[Symbol.asyncDispose]();
      await platform[Symbol.asyncDispose]();
    },
  };
}

/** A workspace that is this directory on a runner, and an agent of it. */
export async function startOnRunner(
  directory: string,
  { env = {}, args = [] }: { readonly env?: Record<string, string>; readonly args?: readonly string[] } = {},
) {
  const platform = await startPlatform();
  const account = await platform.newAccount('owner');
  const given = ['--workspaces', `main=${directory}`, ...args];
  const runner = await startRunner({ url: account.url, token: await newToken(account, 'far'), args: given, env });
  await untilRunner(account, 'far');
  const sandbox = await account.newSandbox({ provider: 'remote', runner: 'far', permissionMode: 'bypass' });
  const workspaceId = await account.newWorkspace({}, 'main');
  const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
  return { platform, account, runner, agent: await connectAgent(account, agentId) };
}

/** Runs `start` once for all tests of a block. */
export function shareStarted<T extends AsyncDisposable>(start: () => Promise<T>): () => T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(() => started?.[Symbol.asyncDispose]());
  return () => {
    if (!started) throw new Error('it is not up');
    return started;
  };
}
