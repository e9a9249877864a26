import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { McpSession } from '../support/harness.ts';
import { git, type HistoryFixture, openFixture } from './fixture.ts';

// Each starts servers of its own, some of them several.
vi.setConfig({ testTimeout: 90_000 });

const tree = { 'src/a.txt': 'a\n', 'src/deep/b.txt': 'b\n', 'run.sh': '#!/bin/sh\n', 'notes.txt': 'one\ntwo\n' };

async function run(session: McpSession, command: string): Promise<void> {
  const ran = await session.call('bash', { command });
  expect(ran.structured?.exitCode, ran.text).toBe(0);
}

describe('undo reverts', () => {
  let fixture: HistoryFixture;
  let session: McpSession;
  beforeAll(async () => {
    fixture = openFixture(tree);
    symlinkSync('run.sh', fixture.at('link'));
    session = await fixture.connect();
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    fixture[Symbol.dispose]();
  });

  test.each([
    ['a directory that is gone', 'rm -rf src'],
    ['a file changed in place', "sed -i 's/one/three/' notes.txt"],
    ['a directory with another name', 'mv src lib'],
    ['a mode', 'chmod 755 run.sh'],
    ['a link that leads elsewhere', 'ln -sfn notes.txt link'],
    ['a file where a directory was', 'rm -rf src && echo x > src'],
    ['a directory where a file was', 'rm notes.txt && mkdir notes.txt && echo x > notes.txt/x'],
    ['new directories', 'mkdir -p new/empty new/full && echo x > new/full/x && chmod 700 new/empty'],
    ['a command that fails', 'echo x > notes.txt; rm -rf src; false'],
  ])('%s', async (_, command) => {
    const before = fixture.listAll();
    await session.call('bash', { command });
    const changed = fixture.listAll();
    expect(changed).not.toEqual(before);
    const undone = await session.call('undo');
    expect(undone.isError, undone.text).toBe(false);
    expect(fixture.listAll()).toEqual(before);
    expect(undone.structured.undone).toMatchObject([{ tool: 'bash', title: command }]);
    const redone = await session.call('undo', { checkpoint: undone.structured.takenBackBy });
    expect(redone.isError, redone.text).toBe(false);
    expect(fixture.listAll()).toEqual(changed);
    const again = await session.call('undo');
    expect(again.structured.undone, again.text).toMatchObject([{ tool: 'bash', title: command }]);
    expect(fixture.listAll()).toEqual(before);
  });
});

describe('undo', () => {
  test('goes further back each time, over writes, edits, moves and deletes, and over a restart', async () => {
    using fixture = openFixture({ 'a.txt': 'one\n' });
    const states = [fixture.listAll()];
    {
      await using session = await fixture.connect();
      const calls: [string, Record<string, unknown>][] = [
        ['read', { file_path: 'a.txt' }],
        ['edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }],
        ['write', { file_path: 'b.txt', content: 'b' }],
        ['move', { from: 'b.txt', to: 'c.txt' }],
        ['delete', { file_path: 'a.txt' }],
      ];
      for (const [tool, input] of calls) {
        expect((await session.call(tool, input)).isError, tool).toBe(false);
        if (tool !== 'read') states.push(fixture.listAll());
      }
      await session.call('undo');
      states.pop();
      expect(fixture.listAll()).toEqual(states.at(-1));
    }
    await using session = await fixture.connect();
    const two = await session.call('undo', { calls: 2 });
    expect(two.structured.undone, two.text).toMatchObject([{ tool: 'move' }, { tool: 'write' }]);
    expect(fixture.listAll()).toEqual(states[1]);
    const many = await session.call('undo', { calls: 5 });
    expect(many).toMatchObject({ isError: true, structured: { error: { code: 'E_NOT_FOUND' } } });
    expect(fixture.listAll()).toEqual(states[1]);
    await session.call('undo');
    expect(fixture.listAll()).toEqual(states[0]);
    const none = await session.call('undo');
    expect(none.text).toContain('no call can still be undone');
  });

  test('a call that was answered can be undone after the server was killed', async () => {
    using fixture = openFixture({ 'a.txt': 'one\n' });
    const before = fixture.listAll();
    {
      await using session = await fixture.connect();
      await run(session, 'echo two > a.txt; mkdir d; echo x > d/x');
      const { pid } = session.transport as unknown as { pid: number };
      process.kill(pid, 'SIGKILL');
    }
    await using session = await fixture.connect();
    const undone = await session.call('undo');
    expect(undone.isError, undone.text).toBe(false);
    expect(fixture.listAll()).toEqual(before);
  });

  test('reverts a call in the middle, if nothing later touched the same files', async () => {
    using fixture = openFixture({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await using session = await fixture.connect();
    await run(session, 'echo first > a.txt');
    await run(session, 'echo second > b.txt');
    await run(session, 'echo third > c.txt');
    const { checkpoints } = (await session.call('undo_list')).structured;
    expect(checkpoints.map(({ title }: { title: string }) => title)).toEqual([
      'echo third > c.txt',
      'echo second > b.txt',
      'echo first > a.txt',
    ]);
    const undone = await session.call('undo', { checkpoint: checkpoints[1].checkpoint });
    expect(undone.structured, undone.text).toMatchObject({ added: [], changed: ['b.txt'], removed: [] });
    expect(read(fixture, 'a.txt', 'b.txt', 'c.txt')).toEqual(['first\n', 'b\n', 'third\n']);
    const twice = await session.call('undo', { checkpoint: checkpoints[1].checkpoint });
    expect(twice).toMatchObject({ isError: true, structured: { error: { code: 'E_NOT_FOUND' } } });
  });

  test('names a conflict for a path that a later call or somebody else changed, and changes nothing', async () => {
    using fixture = openFixture({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await using session = await fixture.connect();
    await run(session, 'echo 1 > a.txt; echo 1 > b.txt; echo 1 > c.txt');
    await run(session, 'echo 2 > a.txt');
    writeFileSync(fixture.at('c.txt'), 'by hand\n');
    const before = fixture.listAll();
    const { checkpoints } = (await session.call('undo_list')).structured;
    const refused = await session.call('undo', { checkpoint: checkpoints[1].checkpoint });
    expect(refused).toMatchObject({ isError: true, structured: { error: { code: 'E_CONFLICT' } } });
    expect(refused.structured.error.details.conflicts).toEqual([
      { path: 'a.txt', by: [`${checkpoints[0].checkpoint} bash echo 2 > a.txt`] },
      { path: 'c.txt', by: [] },
    ]);
    expect(refused.text).toContain('c.txt: outside of any call');
    expect(refused.text).not.toContain('b.txt');
    expect(fixture.listAll()).toEqual(before);
    const both = await session.call('undo', { calls: 2 });
    expect(both).toMatchObject({ isError: true, structured: { error: { code: 'E_CONFLICT' } } });
    expect(fixture.listAll()).toEqual(before);
    writeFileSync(fixture.at('c.txt'), '1\n');
    expect((await session.call('undo', { calls: 2 })).isError).toBe(false);
    expect(read(fixture, 'a.txt', 'b.txt')).toEqual(['a\n', 'b\n']);
  });

  test('a change by others between calls belongs to no call', async () => {
    using fixture = openFixture({ 'a.txt': 'a\n' });
    await using session = await fixture.connect();
    await run(session, 'echo 1 > b.txt');
    writeFileSync(fixture.at('a.txt'), 'by hand\n');
    await run(session, 'true');
    const { checkpoints } = (await session.call('undo_list')).structured;
    expect(checkpoints).toHaveLength(1);
    await session.call('undo');
    expect(fixture.listAll()).toEqual({ 'a.txt': 'file 644 by hand\n' });
  });

  test('the checkpoints of concurrent calls name each other', async () => {
    using fixture = openFixture({ 'a.txt': 'a\n' });
    await using session = await fixture.connect();
    await run(session, 'true');
    // Each waits for what the other writes, so that neither is over before both have begun.
    const wait = (mine: string, other: string) =>
      `echo 1 > ${mine}; while [ ! -e ${other} ]; do read -t 0.05 < <(:) || :; done; echo 2 > ${mine}`;
    await Promise.all([run(session, wait('x', 'y')), run(session, wait('y', 'x'))]);
    const { checkpoints } = (await session.call('undo_list')).structured;
    expect(checkpoints.length).toBeGreaterThan(0);
    expect(checkpoints.some(({ alongside }: { alongside?: string[] }) => alongside?.length === 1)).toBe(true);
    const calls = new Set(checkpoints.map(({ title }: { title: string }) => title)).size;
    expect((await session.call('undo', { calls })).isError).toBe(false);
    expect(fixture.listAll()).toEqual({ 'a.txt': 'file 644 a\n' });
  });

  test('can revert a restore, and neither touches the files of git', async () => {
    using fixture = openFixture({ 'a.txt': 'one\n' });
    git(fixture.path, 'init');
    git(fixture.path, 'add', '.');
    git(fixture.path, 'commit', '-m', 'first');
    const gits = () =>
      ['HEAD', 'index', 'refs/heads/main'].map((file) => readFileSync(fixture.at(`.git/${file}`), 'hex'));
    const before = gits();
    await using session = await fixture.connect();
    await session.call('snapshot_create', { name: 's' });
    await run(session, 'echo two > a.txt');
    await session.call('snapshot_restore', { name: 's' });
    const undone = await session.call('undo');
    expect(undone.structured.undone, undone.text).toMatchObject([{ tool: 'snapshot_restore' }]);
    expect(read(fixture, 'a.txt')).toEqual(['two\n']);
    await session.call('undo');
    expect(read(fixture, 'a.txt')).toEqual(['one\n']);
    expect(gits()).toEqual(before);
    expect(git(fixture.path, 'status', '--porcelain')).toBe('');
  });

  test('a file too large for the history is not restored, and the answer says so before anything changes', async () => {
    using fixture = openFixture({ 'a.txt': 'a\n' });
    writeFileSync(fixture.at('large'), Buffer.alloc(33 * 1024 * 1024, 'x'));
    await using session = await fixture.connect();
    await run(session, 'rm large; echo b > a.txt');
    const refused = await session.call('undo');
    expect(refused).toMatchObject({ isError: true, structured: { error: { code: 'E_CONFLICT' } } });
    expect(refused.text).toContain('large cannot be brought back');
    expect(fixture.listAll()).toEqual({ 'a.txt': 'file 644 b\n' });
  });

  test('a snapshot stores the large file, and then undo restores it too', async () => {
    using fixture = openFixture({ 'a.txt': 'a\n' });
    writeFileSync(fixture.at('large'), Buffer.alloc(33 * 1024 * 1024, 'x'));
    await using session = await fixture.connect();
    await run(session, 'true');
    await session.call('snapshot_create', { name: 's' });
    await run(session, 'rm large');
    expect((await session.call('undo')).isError).toBe(false);
    expect(readFileSync(fixture.at('large')).length).toBe(33 * 1024 * 1024);
  });

  test('reverts ignore rules without the files that they are about', async () => {
    using fixture = openFixture({ '.gitignore': 'kept/\n', 'kept/x': 'x\n', 'dist/y': 'y\n' });
    const before = fixture.listAll();
    await using session = await fixture.connect();
    await run(session, 'echo dist/ > .gitignore');
    const undone = await session.call('undo');
    expect(undone.structured, undone.text).toMatchObject({ added: [], changed: ['.gitignore'], removed: [] });
    expect(fixture.listAll()).toEqual(before);
  });
});

function read(fixture: HistoryFixture, ...names: string[]): string[] {
  return names.map((name) => readFileSync(fixture.at(name), 'utf8'));
}

test('leaves a change during a snapshot or a fork, which belongs to no call', async () => {
  using fixture = openFixture(tree);
  await using session = await fixture.connect();
  await run(session, 'echo x > by-a-call.txt');
  let writes = 0;
  for (let round = 0; round < 4; round++) {
    const making = [
      session.call('snapshot_create', { name: 's' }),
      session.call('workspace_fork', { name: `f${round}` }),
    ];
    let isMade = false;
    const made = Promise.all(making).finally(() => {
      isMade = true;
    });
    for (; !isMade; await setImmediate()) writeFileSync(fixture.at('by-people.txt'), String(++writes));
    for (const { isError, text } of await made) expect(isError, text).toBe(false);
  }
  const undone = await session.call('undo');
  expect(undone.structured.undone, undone.text).toMatchObject([{ tool: 'bash' }]);
  expect(readFileSync(fixture.at('by-people.txt'), 'utf8')).toBe(String(writes));
});
