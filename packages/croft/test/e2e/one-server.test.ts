import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { connectStdio, makeDirectory, runCroft, startServer } from '../support/harness.ts';
import { addAccount } from '../support/servers/installation.ts';
import { adminToken, mustBe } from '../support/servers/platform.ts';

/** Everything in a directory, but what SQLite and the server that runs write by themselves. */
function lookAt(directory: string) {
  const all = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const names = all.filter((name) => !/^(?:reserve|ready-probe)$/.test(name)).sort();
  return names.map((name) => {
    const { ino, mode, size } = statSync(`${directory}/${name}`);
    return /db-(?:wal|shm)$|audit-head/.test(name) ? name : `${name} ${ino} ${mode} ${size}`;
  });
}

test('a second server on one data directory names the first, and changes nothing', async () => {
  using fixture = makeDirectory({ 'work/a.txt': 'a' });
  const flags = ['--workspace', fixture.at('work'), '--data', fixture.at('data')];
  const first = await startServer(flags);
  // The first server takes room for its records soon after its start.
  await vi.waitFor(() => expect(statSync(fixture.at('data/croft.db')).size).toBeGreaterThan(4_000_000));
  const before = lookAt(fixture.at('data'));
  const second = await runCroft(['serve', '--port', '0', ...flags], { env: { CROFT_TOKEN: first.token } });
  expect(second).toMatchObject({ exitCode: 2, stdout: '' });
  const who = `is served by process ${first.child.pid} since \\d{4}-\\S+Z at ${first.url}: stop that server, or choose`;
  expect(second.stderr).toMatch(new RegExp(`^the data directory ${fixture.at('data')} ${who} .*--data DIR.*\\n$`));
  expect(lookAt(fixture.at('data'))).toEqual(before);
  expect((await fetch(`${first.url}/healthz`)).status).toBe(200);

  // Who only works beside a server goes on.
  expect(await runCroft(['audit', 'export', '--data', fixture.at('data')])).toMatchObject({ exitCode: 0 });
  await using session = await connectStdio(['--workspace', fixture.at('work')], {
    env: { CROFT_DATA: fixture.at('data') },
  });
  expect((await session.call('read', { file_path: 'a.txt' })).isError).toBe(false);

  const exited = once(first.child, 'exit');
  first.child.kill('SIGKILL');
  await exited;
  await using third = await startServer(flags);
  expect(JSON.parse(readFileSync(fixture.at('data/server'), 'utf8'))).toMatchObject({
    pid: third.child.pid,
    address: third.url,
  });
  await first[Symbol.asyncDispose]();
});

test('a server that stops leaves the data directory to the next', async () => {
  using fixture = makeDirectory({ 'work/a.txt': 'a' });
  const flags = ['--workspace', fixture.at('work'), '--data', fixture.at('data')];
  await using first = await startServer(flags);
  const exited = once(first.child, 'exit');
  first.child.kill('SIGTERM');
  await exited;
  expect(readdirSync(fixture.at('data'))).not.toContain('server');
  await using second = await startServer(flags);
  expect((await fetch(`${second.url}/healthz`)).status).toBe(200);
});

test('a data directory that is named from the current directory is used as any other', async () => {
  using fixture = makeDirectory({ 'work/a.txt': 'a' });
  mkdirSync(fixture.at('data'));
  // A server that runs as root gives workspaces owners of their own only if they may pass through these directories.
  for (const path of [fixture.path, fixture.at('data')]) chmodSync(path, 0o755);
  const start = { cwd: fixture.path, env: { CROFT_ADMIN_TOKEN: adminToken } };
  await using server = await startServer(['--workspace', 'work', '--data', 'data'], start);
  const ann = await addAccount(server, 'ann');
  const [sandbox, workspaceId] = [await ann.newSandbox({ permissionMode: 'bypass' }), await ann.newWorkspace()];
  const agent = await ann.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  mustBe(200, await ann.call(agent, 'write', { file_path: 'b.txt', content: 'b' }));
  expect(mustBe(200, await ann.call(agent, 'bash', { command: 'cat b.txt' })).output).toBe('b');
});
