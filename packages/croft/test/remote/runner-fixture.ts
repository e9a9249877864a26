import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { collect, croft, makeDirectory } from '../support/harness.ts';
import { type Account, connectAgent, mustBe, type Platform } from '../support/servers/platform.ts';

export type Runner = Awaited<ReturnType<typeof startRunner>>;

/** Creates a token for a runner of this name. */
export async function newToken(account: Account, name: string): Promise<string> {
  return mustBe(201, await account.send('POST', '/v1/runners', { name })).token;
}

export interface RunnerOptions {
  /** URL of the server, or of a relay in between. */
  readonly url: string;
  readonly token: string;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** User of the process. By default ours. */
  readonly uid?: number | undefined;
}

/** Starts a real `croft runner`, which may fail to connect. */
export async function startRunner({ url, token, args = [], env = {}, uid }: RunnerOptions) {
  const [data, root] = [makeDirectory(), makeDirectory()];
  const tokenFile = data.at('token');
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  if (uid !== undefined) for (const path of [data.path, tokenFile, root.path]) chownSync(path, uid, uid);
  const start = () => {
    const child = spawn(
      croft,
      [
        ...['runner', '--server', url, '--token-file', tokenFile, '--data', data.path],
        ...toRoot(root.path, args),
        ...args,
      ],
      {
        cwd: tmpdir(),
        ...(uid !== undefined && { uid, gid: uid }),
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env.PATH, HOME: process.env.HOME, RUNNER_CANARY: 'of-the-runner', ...env },
      },
    );
    return { child, output: collect(child) };
  };
  let running = start();
  const stop = async (signal: NodeJS.Signals) => {
    const { child } = running;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return {
    root: root.path,
    data: data.path,
    tokenFile,
    get child() {
      return running.child;
    },
    get output() {
      return running.output;
    },
    stop,
    /** Restarts it on the same data. */
    restart() {
      running = start();
    },
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
      data[Symbol.dispose]();
      root[Symbol.dispose]();
    },
  };
}

function toRoot(root: string, args: readonly string[]): string[] {
  return args.includes('--root') || args.includes('--workspaces') ? [] : ['--root', root];
}

/** Waits until the server reports this state. */
export async function untilRunner(account: Account, name: string, state = 'online') {
  return vi.waitFor(async () => {
    const runner = mustBe(200, await account.send('GET', `/v1/runners/${name}`));
    if (runner.state !== state) throw new Error(`the runner ${name} is ${runner.state}, not ${state}`);
    return runner;
  });
}

export interface RemoteAgentOptions {
  readonly name?: string;
  /** URL that the runner connects to. By default the server. */
  readonly url?: string;
  readonly args?: readonly string[];
  readonly sandbox?: object;
  /** Environment of the runner. */
  readonly env?: Record<string, string>;
  readonly uid?: number;
}

/** Starts an online runner of an account, and an agent whose only workspace is there. */
export async function addRemote(
  account: Account,
  { name = 'far', url = account.url, args = [], sandbox = {}, env = {}, uid }: RemoteAgentOptions = {},
) {
  const runner = await startRunner({ url, token: await newToken(account, name), args, env, uid });
  await untilRunner(account, name);
  const agent = await agentOn(account, { runner: name, ...sandbox });
  return { account, runner, ...agent, [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose]() };
}

/** Creates an agent with its own workspace and such a sandbox. */
export async function agentOn(account: Account, sandbox: object, workspace: object = {}) {
  const sandboxId = await account.newSandbox({ provider: 'remote', permissionMode: 'bypass', ...sandbox });
  const workspaceId = await account.newWorkspace(workspace);
  const agentId = await account.newAgent({ sandbox: sandboxId, workspaces: [{ name: 'main', workspaceId }] });
  return { agentId, sandboxId, workspaceId };
}

/** Path of the first workspace on the runner. */
export function filesOf({ root }: Pick<Runner, 'root'>): string {
  const parent = join(root, 'workspaces');
  return join(parent, readdirSync(parent)[0] ?? '');
}

/** The same for a new account, with a connected client. */
export async function startRemote(platform: Platform, options: RemoteAgentOptions = {}) {
  const account = await platform.newAccount(`owner-${options.name ?? 'far'}`);
  const remote = await addRemote(account, options);
  const agent = await connectAgent(account, remote.agentId);
  return {
    ...{ ...remote, call: agent.call },
    /** Calls a tool that must succeed. */
    async ok(tool: string, input: Record<string, unknown> = {}) {
      const answer = await agent.call(tool, input, { timeout: 200_000 });
      if (answer.isError) throw new Error(answer.text);
      return answer;
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await remote[Symbol.asyncDispose]();
    },
  };
}
