import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { croft } from '../support/harness.ts';
import { type Installation, moveTo, type Server } from '../support/servers/installation.ts';
import { type Account, type Answer, adminToken, type Json, mustBe } from '../support/servers/platform.ts';
import { approvalLane, fileLane, memoryLane } from './kill-call-lanes.ts';
import { agentLane, keyLane, type Lane, listAll, recordLane } from './kill-lanes.ts';

/** Kills the server at its first starts, each time a little later. */
export async function killFirstStarts(ownInstallation: Installation, moments: readonly string[]): Promise<void> {
  for (const name of moments) {
    const child = spawn(croft, ['serve', '--port', '0', ...ownInstallation.serveArgs], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, HOME: process.env.HOME, CROFT_ADMIN_TOKEN: adminToken },
    });
    const exited = once(child, 'exit');
    while (!existsSync(ownInstallation.at(name)) && child.exitCode === null) await sleep(1);
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
  }
}

export async function newAgent(account: Account, workspaceId: string, permissionMode: string): Promise<string> {
  const sandbox = await account.newSandbox({ permissionMode });
  return account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
}

export async function fillAccount(account: Account) {
  const workspaceId = await account.newWorkspace();
  const [free, careful] = [await newAgent(account, workspaceId, 'bypass'), await newAgent(account, workspaceId, 'ask')];
  const lanes = [
    ...['a', 'b', 'c'].flatMap((lane) => ['sandboxes', 'workspaces'].map((kind) => recordLane(kind, lane))),
    agentLane(careful),
    ...['a.txt', 'b.txt', 'c.txt'].map((path) => fileLane(free, path)),
    memoryLane(free),
    ...['one', 'two'].map((name) => approvalLane(careful, name)),
    keyLane(),
  ];
  return { lanes, resting: createIdleSession(free) };
}

/** Runs all lanes at the same time until this many requests have been answered. */
export async function loadUntilKilled(
  server: Server,
  account: Account,
  lanes: readonly Lane[],
  count: number,
): Promise<void> {
  let [answered, isKilled] = [0, false];
  const exited = once(server.child, 'exit');
  const onAnswer = () => {
    answered += 1;
    if (answered !== count) return;
    isKilled = true;
    setTimeout(() => server.child.kill('SIGKILL'), Math.random() * 15);
  };
  const counted = withCount(moveTo(server, account), onAnswer);
  await Promise.all(
    lanes.map(async (lane) => {
      while (!isKilled) await lane.step(counted).catch((thrown) => rethrowUnless(isKilled, thrown));
    }),
  );
  await exited;
}

function withCount(account: Account, onAnswer: () => void): Account {
  const count = (answer: Answer) => {
    onAnswer();
    return answer;
  };
  return {
    ...account,
    send: async (...args) => count(await account.send(...args)),
    call: async (...args) => count(await account.call(...args)),
    approve: async (...args) => count(await account.approve(...args)),
  };
}

/** A broken connection is no answer. Every answer counts, also one in the last moment. */
function rethrowUnless(isKilled: boolean, thrown: unknown): void {
  if (!(isKilled && thrown instanceof TypeError)) throw thrown;
}

/**
 * A session that is idle during the kill: it wrote a file, which it may edit later, and started a command, which ends
 * with the server.
 */
function createIdleSession(agent: string) {
  let count = 0;
  return {
    async begin(account: Account) {
      const file_path = `resting-${++count}.txt`;
      const mark = `600.${process.pid}${Date.now()}`;
      mustBe(200, await account.call(agent, 'write', { file_path, content: 'one' }));
      mustBe(200, await account.call(agent, 'bash', { command: `exec sleep ${mark}`, run_in_background: true }));
      await vi.waitFor(() => expect(processesWith(mark)).not.toEqual([]));
      const edit = { file_path, old_string: 'one', new_string: 'two' };
      return { mark, finish: async (on: Account) => mustBe(200, await on.call(agent, 'edit', edit)) };
    },
  };
}

export function processesWith(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    });
}

/**
 * The audit chain is unbroken, has an entry for everything acknowledged, and one entry for each change of every record.
 */
export async function expectTrail(
  ownInstallation: Installation,
  account: Account,
  lanes: readonly Lane[],
): Promise<void> {
  const verified = await ownInstallation.croft('audit', 'verify');
  expect(verified).toMatchObject({ exitCode: 0, stderr: '' });
  const { stdout } = await ownInstallation.croft('audit', 'export', '--account', account.accountId);
  const rows: Json[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const counts = Map.groupBy(rows, ({ action, target }) => `${action} ${target}`);
  const expected = Map.groupBy(
    lanes.flatMap(({ trail }) => trail),
    (entry) => entry,
  );
  for (const [entry, times] of expected)
    expect({ entry, count: counts.get(entry)?.length ?? 0 }).toEqual({
      entry,
      count: expect.toSatisfy((count: number) => count >= times.length),
    });
  for (const { sandboxId, version } of await listAll(account, 'sandboxes')) {
    expect(counts.get(`sandbox.created ${sandboxId}`)).toHaveLength(1);
    expect(counts.get(`sandbox.changed ${sandboxId}`) ?? []).toHaveLength(version - 1);
  }
  const ids = new Set((await listAll(account, 'workspaces')).map(({ workspaceId }) => workspaceId));
  for (const [entry] of counts)
    if (entry.startsWith('workspace.created '))
      expect(ids.has(entry.slice(18)) || counts.has(entry.replace('created', 'removed'))).toBe(true);
}
