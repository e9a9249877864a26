import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { makeDirectory, runCroft, startServer } from '../support/harness.ts';
import { addAccount, type Server } from '../support/servers/installation.ts';
import { type Account, adminToken, mustBe } from '../support/servers/platform.ts';
import { newWorkspace } from './quota-fixture.ts';

const megabyte = 1024 * 1024;
const isPossible = canMount();

/** A server whose data directory is on a small disk of its own. */
async function startOnDisk(size: string, ...args: readonly string[]) {
  const fixture = makeDirectory({ 'work/a': '' });
  mkdirSync(fixture.at('data'));
  const image = fixture.at('disk.img');
  execFileSync('truncate', ['--size', size, image]);
  execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
  execFileSync('mount', ['-o', 'loop', image, fixture.at('data')]);
  const flags = ['--data', fixture.at('data'), ...args];
  const server = await startServer(['--workspace', fixture.at('work'), ...flags], {
    env: { CROFT_ADMIN_TOKEN: adminToken },
  });
  return {
    ...{ server, fixture, data: fixture.at('data') },
    audit: () => runCroft(['audit', 'verify', '--data', fixture.at('data')]),
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

function freeOf(directory: string): number {
  const [blocks = 0, size = 0] = execFileSync('stat', ['-f', '-c', '%a %S', directory], { encoding: 'utf8' })
    .split(' ')
    .map(Number);
  return blocks * size;
}

async function isReady({ url }: Server): Promise<boolean> {
  return (await fetch(`${url}/readyz`)).status === 200;
}

describe.skipIf(!isPossible)('an account that fills the disk of the data directory', () => {
  test('takes nothing from the others: what makes room works, what grows is refused, and all of it goes on after that', async () => {
    await using place = await startOnDisk('256M', '--min-free', '64m', '--history-min-free', '96m');
    const { server, data } = place;
    const [ann, bob] = [await addAccount(server, 'ann'), await addAccount(server, 'bob')];
    const [greedy, own] = [await newAgent(ann), await newWorkspace(place, bob)];
    const { agent } = own;
    const big = 'x'.repeat(2 * megabyte);
    mustBe(200, await bob.call(agent, 'write', { file_path: 'a', content: big }));
    mustBe(200, await bob.call(agent, 'write', { file_path: 'b', content: big }));
    mustBe(200, await bob.call(agent, 'bash', { command: 'head -c 3m /dev/zero > c' }));
    mustBe(200, await bob.call(agent, 'bash', { command: 'head -c 3m /dev/zero > d' }));
    await vi.waitFor(() =>
      expect(execFileSync('du', ['-m', `${data}/reserve`], { encoding: 'utf8' })).toMatch(/^1[67]/),
    );

    // Faster than anybody looks, by several at once, and once more by who is not watched at all.
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
    expect(await place.audit()).toMatchObject({ exitCode: 0 });

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
    expect(await place.audit()).toMatchObject({ exitCode: 0 });
  });

  test('again and again, as fast as it can, does not keep the others from making room', async () => {
    await using place = await startOnDisk('256M', '--min-free', '64m', '--history-min-free', '96m');
    const { server } = place;
    const [ann, bob] = [await addAccount(server, 'ann'), await addAccount(server, 'bob')];
    const [greedy, agent] = [await newAgent(ann), await newAgent(bob)];
    mustBe(
      200,
      await bob.call(agent, 'bash', { command: 'for n in $(seq 40); do head -c 100k /dev/zero > f$n; done' }),
    );
    let isOver = false;
    const lane = async (session: string) => {
      const command = 'for n in 1 2 3 4; do head -c 400m /dev/zero >> "big-$$-$n"; done';
      while (!isOver) await ann.call(greedy, 'bash', { command }, { 'croft-session': session });
    };
    const lanes = ['1', '2'].map(lane);
    await vi.waitFor(async () => expect(await isReady(server)).toBe(false));

    // Between two looks of the server a program fills any disk, and what cannot be recorded is not done. But nobody is kept
    // from it for long.
    const soon = (tool: string, input: object) =>
      vi.waitFor(async () => mustBe(200, await bob.call(agent, tool, input)));
    for (let count = 1; count <= 20; count += 1) {
      await soon('delete', { file_path: `f${count}` });
      await soon('bash', { command: `rm -f f${count + 20}` });
    }
    isOver = true;
    await Promise.all(lanes);
    expect((await soon('glob', { pattern: 'f*' })).paths).toEqual([]);
    expect(await place.audit()).toMatchObject({ exitCode: 0 });
  });
});

test.each(['lots', '1x', ''])('--min-free %s is no size, and said so', async (size) => {
  const refused = await runCroft(['serve', '--port', '0', '--min-free', size]);
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--min-free takes a size') });
});

/** Takes root, a loop device and the programs for it. */
function canMount(): boolean {
  using fixture = makeDirectory();
  const image = fixture.at('disk.img');
  const script = `truncate --size 8M '${image}' && mkfs.ext4 -q -F '${image}' && mount -o loop '${image}' /mnt`;
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', script], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
