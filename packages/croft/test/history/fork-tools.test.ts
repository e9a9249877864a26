import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { connectStdio, makeDirectory } from '../support/harness.ts';
import { mountsIn, unmountBelow } from './layers-fixture.ts';

function fixture(tree: Record<string, string>) {
  const workspace = makeDirectory(tree);
  const data = makeDirectory();
  chmodSync(data.path, 0o711);
  onTestFinished(() => workspace[Symbol.dispose]());
  onTestFinished(() => data[Symbol.dispose]());
  onTestFinished(() => unmountBelow(data.path));
  const connect = () => connectStdio(['--workspace', workspace.path], { env: { CROFT_DATA: data.path } });
  return { workspace, data, connect };
}

test('an agent forks, works there, merges and removes, and enters the fork only by its name', {
  timeout: 120_000,
}, async () => {
  const { workspace, data, connect } = fixture({ 'a.txt': 'one\n' });
  const main = workspace.path.split('/').at(-1) ?? '';
  {
    await using session = await connect();
    const made = await session.call('workspace_fork', { name: 'try' });
    expect(made.isError, made.text).toBe(false);
    const { tools } = await session.client.listTools();
    const description = JSON.stringify(tools.find(({ name }) => name === 'read')?.inputSchema);
    expect(description).toContain('try');
    expect(description).toContain(`${main} if left out`);
    const listed = await session.call('workspaces');
    expect(listed.structured.workspaces).toContainEqual(
      expect.objectContaining({ name: 'try', root: '/workspaces/try' }),
    );
    await session.call('bash', { workspace: 'try', command: 'echo two > a.txt; git init -q . && echo x > new' });
    expect((await session.call('grep', { workspace: 'try', pattern: 'two' })).text).toContain('a.txt');
    expect((await session.call('read', { file_path: 'a.txt' })).text).toContain('one');
    expect(readFileSync(workspace.at('a.txt'), 'utf8')).toBe('one\n');
    const tried = await session.call('bash', { workspace: 'try', command: 'rm new', transaction: true });
    expect(tried.structured.changes.deleted).toEqual([{ path: 'new', size: 2 }]);
  }
  await using session = await connect();
  expect((await session.call('read', { workspace: 'try', file_path: 'a.txt' })).text).toContain('two');
  const merged = await session.call('workspace_merge', { fork: 'try' });
  expect(merged.structured, merged.text).toMatchObject({ added: ['new'], changed: ['a.txt'], conflicts: [] });
  expect(readFileSync(workspace.at('a.txt'), 'utf8')).toBe('two\n');
  expect(existsSync(workspace.at('.git'))).toBe(false);
  const undone = await session.call('undo', {});
  expect(undone.isError, undone.text).toBe(false);
  expect(readFileSync(workspace.at('a.txt'), 'utf8')).toBe('one\n');
  for (const fork of [main, 'nobody'])
    expect((await session.call('workspace_remove', { fork })).text).toContain('there is no fork');
  const removed = await session.call('workspace_remove', { fork: 'try' });
  expect(removed.isError, removed.text).toBe(false);
  expect((await session.call('read', { workspace: 'try', file_path: 'a.txt' })).text).toContain('unknown workspace');
  expect(mountsIn(data.path)).toEqual([]);
});

test('commands in a fork end when it is removed', async () => {
  const { data, connect } = fixture({ 'a.txt': 'one\n' });
  await using session = await connect();
  await session.call('workspace_fork', { name: 'try' });
  const [fork = ''] = readdirSync(data.at('forks'));
  const began = await session.call('bash', {
    ...{ workspace: 'try', run_in_background: true },
    command: `while true; do echo ${fork} > beat; sleep 0.05; done`,
  });
  expect(began.isError, began.text).toBe(false);
  await vi.waitFor(() => expect(existsSync(data.at(`forks/${fork}/merged/beat`))).toBe(true));
  expect(running(`echo ${fork} > beat`)).not.toEqual([]);
  const removed = await session.call('workspace_remove', { fork: 'try' });
  expect(removed.isError, removed.text).toBe(false);
  expect(running(`echo ${fork} > beat`)).toEqual([]);
  expect(readdirSync(data.at('forks'))).toEqual([]);
  expect((await session.call('bash', { workspace: 'try', command: 'true' })).text).toContain('unknown workspace');
});

/** Processes whose arguments have this in them, in whichever namespace. */
function running(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}
