import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { makeDirectory, runCroft, startServer } from '../support/harness.ts';
import { addAccount, type Server } from '../support/servers/installation.ts';
import { type Account, adminToken, mustBe } from '../support/servers/platform.ts';
import { canMountDisks, freeOf, mountDisk } from '../support/small-disk.ts';
import { newWorkspace } from './quota-fixture.ts';

const megabyte = 1024 * 1024;
const isPossible = canMountDisks();

/** A server whose data directory is on a small disk of its own. */
async function startOnDisk(size: string, ...args: readonly string[]) {
  const fixture = makeDirectory({ 'work/a': '' });
  const data = mountDisk(fixture, 'data', size);
  const flags = ['--data', data, ...args];
  const server = await startServer(['--workspace', fixture.at('work'), ...flags], {
    env: { CROFT_ADMIN_TOKEN: adminToken },
  });
  return {
    ...{ server, fixture, data },
    audit: () => runCroft(['audit', 'verify', '--data', data]),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      fixture[Symbol.dispose]();
    },
  };
}

async function newAgent(account: Account) {
  const [sandbox, workspaceId] = [await account.newSandbox({ permissionMode: 'bypass' }), await account.newWorkspace()];
  return account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
}

/** Runs loops until the test is over, whichever way it ends. A loop gets a signal for its end. */
function startLanes(lanes: readonly ((signal: AbortSignal) => Promise<void>)[]) {
  const ending = new AbortController();
  const running = Promise.allSettled(lanes.map((lane) => lane(ending.signal)));
  const end = () => {
    ending.abort();
    return running;
  };
  return { end, [Symbol.asyncDispose]: async () => void (await end()) };
}

async function isReady({ url }: Server): Promise<boolean> {
  return (await fetch(`${url}/readyz`)).status === 200;
}

describe.skipIf(!isPossible)('an account that fills the disk of the data directory', () => {
  test('takes nothing from the others: deletions work, growth is refused, and everything goes on afterwards', async () => {
    await using root = await startOnDisk('256M', '--min-free', '64m', '--history-min-free', '96m');
    const { server, data } = root;
    const [ann, bob] = [await addAccount(server, 'ann'), await addAccount(server, 'bob')];
    const [greedy, own] = [await newAgent(ann), await newWorkspace(root, bob)];
    const { agent } = own;
    const big = 'x'.repeat(2 * megabyte);
    mustBe(200, await bob.call(agent, 'write', { file_path: 'a', content: big }));
    mustBe(200, await bob.call(agent, 'write', { file_path: 'b', content: big }));
    mustBe(200, await bob.call(agent, 'bash', { command: 'head -c 3m /dev/zero > c' }));
    mustBe(200, await bob.call(agent, 'bash', { command: 'head -c 3m /dev/zero > d' }));
    await vi.waitFor(() =>
      expect(execFileSync('du', ['-m', `${data}/reserve`], { encoding: 'utf8' })).toMatch(/^1[67]/),
    );

    // Fills the disk faster than the watchdog polls, by several commands at once, and once by an account without a
    // watchdog.
    const fill = { command: 'head -c 400m /dev/zero > "big-$$"; true' };
    await Promise.all(['1', '2', '3'].map((name) => ann.call(greedy, 'bash', fill, { 'croft-session': name })));
    execFileSync('sh', ['-c', `head -c 1G /dev/zero > ${data}/outside || true`], { stdio: 'ignore' });
    await server.output.find(/the disk of the data directory is full: released the reserve of 16 MB/);
    // Given up to the first, the reserve was taken by the last, whom nobody watches: then there is none to speak of.
    if (freeOf(data) < 8 * megabyte) execFileSync('truncate', ['--size=-16M', `${data}/outside`]);
    expect(freeOf(data)).toBeLessThan(64 * megabyte);
    await vi.waitFor(async () => expect(await isReady(server)).toBe(false));

    // What grows is refused, for everybody.
    for (const [of, whose] of [
      [bob, agent],
      [ann, greedy],
    ] as const) {
      // For a moment the records may find the disk full too: what was given up is there when the file system has noted it.
      await vi.waitFor(async () => {
        const refused = await of.call(whose, 'write', { file_path: 'new', content: 'more' });
        expect(refused).toMatchObject({ status: 507, body: { error: { code: 'E_STORAGE_FULL' } } });
        expect(refused.body.error.message).toContain('files cannot grow');
      });
    }
    expect(await own.put('upload', megabyte)).toBe(507);
    const grown = await bob.call(agent, 'bash', { command: 'head -c 200m /dev/zero > more' });
    expect(grown.body.error, JSON.stringify(grown.body)).toMatchObject({ code: 'E_STORAGE_FULL' });
    expect(mustBe(200, await bob.call(agent, 'glob', { pattern: '*' })).paths.toSorted()).toEqual(['a', 'b', 'c', 'd']);
    const before = freeOf(data);

    // What makes room is done, and what reads is too.
    mustBe(200, await bob.call(agent, 'undo'));
    expect(mustBe(200, await bob.call(agent, 'glob', { pattern: '*' })).paths.toSorted()).toEqual(['a', 'b', 'c']);
    mustBe(200, await bob.call(agent, 'delete', { file_path: 'a' }));
    mustBe(200, await bob.call(agent, 'bash', { command: 'rm c' }));
    mustBe(200, await bob.call(agent, 'read', { file_path: 'b', limit: 1 }));
    mustBe(200, await bob.call(agent, 'write', { file_path: 'b', content: 'small' }));
    mustBe(200, await bob.send('GET', '/v1/account'));
    expect(freeOf(data)).toBeGreaterThan(before);
    expect(await root.audit()).toMatchObject({ exitCode: 0 });

    // With room again everything works, without a restart, and there is a reserve again.
    execFileSync('rm', [`${data}/outside`]);
    mustBe(200, await ann.call(greedy, 'bash', { command: 'rm -f big-*' }));
    await vi.waitFor(async () => expect(await isReady(server)).toBe(true));
    mustBe(200, await bob.call(agent, 'write', { file_path: 'new', content: big }));
    mustBe(200, await bob.call(agent, 'bash', { command: 'head -c 3m /dev/zero > more' }));
    await vi.waitFor(() =>
      expect(execFileSync('du', ['-m', `${data}/reserve`], { encoding: 'utf8' })).toMatch(/^1[67]/),
    );
    const rows = mustBe(200, await bob.send('GET', '/v1/audit?limit=200')).audit;
    const count = (action: string) => rows.filter((row: { action: string }) => row.action === action).length;
    expect(count('call.ended')).toBeGreaterThanOrEqual(count('call.began'));
    expect(await root.audit()).toMatchObject({ exitCode: 0 });
  });

  test('again and again, as fast as it can, does not keep the others from deleting', async () => {
    await using root = await startOnDisk('256M', '--min-free', '64m', '--history-min-free', '96m');
    const { server } = root;
    const [ann, bob] = [await addAccount(server, 'ann'), await addAccount(server, 'bob')];
    const [greedy, agent] = [await newAgent(ann), await newAgent(bob)];
    mustBe(
      200,
      await bob.call(agent, 'bash', { command: 'for n in $(seq 40); do head -c 100k /dev/zero > f$n; done' }),
    );
    const lane = async (session: string, signal: AbortSignal) => {
      const command = 'for n in 1 2 3 4; do head -c 400m /dev/zero >> "big-$$-$n"; done';
      while (!signal.aborted) await ann.call(greedy, 'bash', { command }, { 'croft-session': session });
    };
    await using lanes = startLanes(['1', '2'].map((session) => (signal) => lane(session, signal)));
    await vi.waitFor(async () => expect(await isReady(server)).toBe(false));

    const waits: number[] = [];
    const soon = async (tool: string, input: object) => {
      const since = performance.now();
      const answer = await vi.waitFor(async () => mustBe(200, await bob.call(agent, tool, input)));
      waits.push(performance.now() - since);
      return answer;
    };
    for (let count = 1; count <= 20; count += 1) {
      await soon('delete', { file_path: `f${count}` });
      await soon('bash', { command: `rm -f f${count + 20}` });
    }
    expect(Math.max(...waits)).toBeLessThan(5000);
    await lanes.end();
    expect((await soon('glob', { pattern: 'f*' })).paths).toEqual([]);
    expect(await root.audit()).toMatchObject({ exitCode: 0 });
  });

  test('starts its commands two seconds apart once one of them grew, and nobody else waits', async () => {
    await using root = await startOnDisk('192M', '--min-free', '64m', '--history-min-free', '96m');
    const { server, data } = root;
    const [ann, bob] = [await addAccount(server, 'ann'), await addAccount(server, 'bob')];
    const [greedy, other] = [await newAgent(ann), await newAgent(bob)];
    const time = async (account: Account, agent: string, session: string) => {
      const since = performance.now();
      mustBe(200, await account.call(agent, 'bash', { command: 'true' }, { 'croft-session': session }));
      return performance.now() - since;
    };
    // Sandboxes are open then, so that no start counts.
    for (const session of ['1', '2']) await time(ann, greedy, session);
    await time(bob, other, '1');
    // Well below the 64 MB: the log of the records may give back some megabytes meanwhile.
    execFileSync('fallocate', ['-l', `${freeOf(data) - 48 * megabyte}`, `${data}/outside`]);
    await vi.waitFor(async () => expect(await isReady(server)).toBe(false));
    const grown = await ann.call(greedy, 'bash', { command: 'head -c 3m /dev/zero > big' }, { 'croft-session': '1' });
    expect(grown.body).toMatchObject({ error: { code: 'E_STORAGE_FULL' } });
    const waits = ['1', '2'].map((session) => time(ann, greedy, session));
    const unhindered = await time(bob, other, '1');
    const [first = 0, second = 0] = (await Promise.all(waits)).toSorted((a, b) => a - b);
    expect(first).toBeGreaterThan(1500);
    expect(unhindered).toBeLessThan(first);
    expect(second - first).toBeGreaterThan(1500);
  });

  test('leaves the records their blocks: with a full disk, each deleting call is done at once', async () => {
    await using root = await startOnDisk('256M', '--min-free', '64m', '--history-min-free', '96m');
    const { server, data } = root;
    const bob = await addAccount(server, 'bob');
    const [agent, other] = [await newAgent(bob), await newAgent(bob)];
    const many = 'for n in $(seq 300); do head -c 4k /dev/zero > f$n; done';
    mustBe(200, await bob.call(agent, 'bash', { command: many }));
    await vi.waitFor(() => expect(statSync(`${data}/reserve`).size).toBe(16 * megabyte));

    // Takes every block that anybody frees, and is nobody's sandbox: nobody ends it.
    const script = `while :; do cat /dev/zero >> '${data}/outside'; sleep 0.01; done`;
    const filler = spawn('sh', ['-c', script], { stdio: 'ignore', detached: true });
    try {
      await server.output.find(/released the reserve of 16 MB/);
      await vi.waitFor(() => expect(freeOf(data)).toBeLessThan(megabyte / 8));
      for (let count = 1; count <= 150; count += 1) {
        mustBe(200, await bob.call(agent, 'delete', { file_path: `f${count}` }));
        mustBe(200, await bob.call(agent, 'bash', { command: `rm f${count + 150}` }));
      }
      // The first call of another agent, whose sandbox and history do not exist yet.
      // A new workspace needs a directory, and a directory needs a block: it is there, or refused by name.
      const first = await bob.call(other, 'bash', { command: 'true' });
      if (first.status !== 200) expect(first.body.error).toMatchObject({ code: 'E_STORAGE_FULL' });
      await vi.waitFor(() => expect(freeOf(data)).toBeLessThan(megabyte / 8));
    } finally {
      if (filler.pid !== undefined) process.kill(-filler.pid, 'SIGKILL');
      await once(filler, 'exit');
    }
    execFileSync('rm', [`${data}/outside`]);
    expect(mustBe(200, await bob.call(agent, 'glob', { pattern: 'f*' })).paths).toEqual([]);
    expect(await root.audit()).toMatchObject({ exitCode: 0 });
  });
});

test.each(['lots', '1x', ''])('--min-free %s is refused as no size', async (size) => {
  const refused = await runCroft(['serve', '--port', '0', '--min-free', size]);
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--min-free takes a size') });
});
