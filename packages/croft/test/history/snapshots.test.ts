import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { bait, git, listTree, openFixture } from './fixture.ts';

// Each starts servers of its own, some of them several.
vi.setConfig({ testTimeout: 90_000 });

describe('snapshots', () => {
  test('a restore reports for every path what happened to it, with contents, and can be undone', async () => {
    using fixture = openFixture({ 'same.txt': 'same\n', 'changed.txt': 'old\n', 'deep/er/gone.txt': 'gone\n' });
    chmodSync(fixture.at('same.txt'), 0o644);
    symlinkSync('same.txt', fixture.at('link'));
    const before = fixture.listAll();
    await using session = await fixture.connect();

    const made = await session.call('snapshot_create', { name: 'good', description: 'as it should be' });
    expect(made.text).toMatch(/^snapshot good created: [0-9a-f]{64}$/);
    expect(made.structured).toMatchObject({ files: 4, replaced: false, missed: [] });
    writeFileSync(fixture.at('changed.txt'), 'new\n');
    rmSync(fixture.at('deep'), { recursive: true });
    mkdirSync(fixture.at('more'));
    writeFileSync(fixture.at('more/added.txt'), 'added\n');
    chmodSync(fixture.at('same.txt'), 0o755);
    unlinkSync(fixture.at('link'));
    symlinkSync('changed.txt', fixture.at('link'));
    const changed = fixture.listAll();

    const restored = await session.call('snapshot_restore', { name: 'good' });
    expect(restored.isError, restored.text).toBe(false);
    expect(fixture.listAll()).toEqual(before);
    expect(restored.structured).toMatchObject({
      ...{ added: ['deep/er/gone.txt'], removed: ['more/added.txt'], refused: [] },
      changed: ['changed.txt', 'link', 'same.txt'],
    });
    for (const line of ['added deep/er/gone.txt', 'changed changed.txt', 'changed link', 'removed more/added.txt'])
      expect(restored.text.split('\n')).toContain(line);

    const again = await session.call('snapshot_restore', { name: 'good' });
    expect(again.text).toBe('restored snapshot good (no files changed)');
    const back = await session.call('snapshot_restore', { name: restored.structured.takenBackBy });
    expect(back.isError, back.text).toBe(false);
    expect(fixture.listAll()).toEqual(changed);
  });

  test('names of every kind are restored and removed', async () => {
    const names = ['grün.txt', '日本語/ファイル', 'with space', 'new\nline', '-rf', 'a\\b', '"quoted"', 'emoji 🦀'];
    using fixture = openFixture(Object.fromEntries(names.map((name) => [name, name])));
    const raw = Buffer.concat([Buffer.from(`${fixture.path}/`), Buffer.from([0x62, 0xff, 0xfe])]);
    writeFileSync(raw, 'no text');
    const before = fixture.listAll();
    await using session = await fixture.connect();
    await session.call('snapshot_create', { name: 's' });
    for (const name of names) rmSync(fixture.at(name));
    unlinkSync(raw);
    for (const name of ['später.txt', '後で/x']) {
      mkdirSync(join(fixture.at(name), '..'), { recursive: true });
      writeFileSync(fixture.at(name), 'later');
    }
    const restored = await session.call('snapshot_restore', { name: 's' });
    expect(restored.isError, restored.text).toBe(false);
    expect(Object.keys(fixture.listAll()).sort()).toEqual(Object.keys(before).sort());
    expect(fixture.listAll()).toEqual(before);
    expect(restored.structured.removed).toEqual(['später.txt', '後で/x']);
    expect(restored.structured.added).toEqual(expect.arrayContaining(names));
  });

  test('repositories, nested and linked ones too: git never runs, and its files stay unchanged', async () => {
    using fixture = openFixture({
      'a.txt': 'one\n',
      '.gitattributes': '* filter=bait diff=bait\n',
      'nested/n.txt': 'n\n',
    });
    mkdirSync(fixture.at('worktree'));
    writeFileSync(fixture.at('worktree/.git'), 'gitdir: /nowhere\n');
    writeFileSync(fixture.at('worktree/w.txt'), 'w\n');
    for (const repository of [fixture.path, fixture.at('nested')]) {
      git(repository, 'init');
      git(repository, 'add', '.');
      git(repository, 'commit', '-m', 'first');
    }
    writeFileSync(fixture.at('a.txt'), 'two\n');
    git(fixture.path, 'add', 'a.txt');
    const mark = join(fixture.data, 'mark');
    for (const repository of [fixture.path, fixture.at('nested')]) bait(repository, mark);
    const repositories = () => [
      listTree(fixture.at('.git')),
      listTree(fixture.at('nested/.git')),
      fixture.listAll('worktree'),
    ];
    const [before, files] = [repositories(), fixture.listAll()];

    await using session = await fixture.connect();
    await session.call('snapshot_create', { name: 's' });
    writeFileSync(fixture.at('nested/n.txt'), 'changed\n');
    writeFileSync(fixture.at('nested/more.txt'), 'more\n');
    writeFileSync(fixture.at('a.txt'), 'three\n');
    const diff = await session.call('snapshot_diff', { name: 's' });
    expect(diff.structured.changes.map(({ path }: { path: string }) => path)).toEqual([
      'a.txt',
      'nested/more.txt',
      'nested/n.txt',
    ]);
    const restored = await session.call('snapshot_restore', { name: 's' });
    expect(restored.structured).toMatchObject({ changed: ['a.txt', 'nested/n.txt'], removed: ['nested/more.txt'] });
    expect(existsSync(mark)).toBe(false);
    expect(repositories()).toEqual(before);
    expect(fixture.listAll()).toEqual(files);
    // The bait is one: git itself takes it.
    spawnSync('git', ['status'], { cwd: fixture.path });
    expect(existsSync(mark)).toBe(true);
  });

  test('ignored files stay, unless the snapshot has them', async () => {
    using fixture = openFixture({
      '.gitignore': 'dist/\n.env\n',
      'a.txt': 'a\n',
      'dist/out.js': 'one\n',
      '.env': 'KEY=1\n',
    });
    await using session = await fixture.connect();
    await session.call('snapshot_create', { name: 'source' });
    await session.call('snapshot_create', { name: 'whole', include_ignored: true });
    writeFileSync(fixture.at('dist/out.js'), 'two\n');
    writeFileSync(fixture.at('a.txt'), 'b\n');
    rmSync(fixture.at('.env'));
    const source = await session.call('snapshot_restore', { name: 'source' });
    expect(source.structured).toMatchObject({ added: [], changed: ['a.txt'], removed: [] });
    expect(readFileSync(fixture.at('dist/out.js'), 'utf8')).toBe('two\n');
    const whole = await session.call('snapshot_restore', { name: 'whole' });
    expect(whole.structured).toMatchObject({ added: ['.env'], changed: ['dist/out.js'], removed: [] });
    expect(readFileSync(fixture.at('.env'), 'utf8')).toBe('KEY=1\n');
  });

  test('ignore rules that changed since the snapshot do not remove the files that they are about', async () => {
    using fixture = openFixture({ '.gitignore': 'kept/\n', 'kept/precious': 'p\n', 'plain/x': 'x\n' });
    await using session = await fixture.connect();
    await session.call('snapshot_create', { name: 's' });
    writeFileSync(fixture.at('.gitignore'), 'plain/\n');
    const restored = await session.call('snapshot_restore', { name: 's' });
    expect(restored.structured, restored.text).toMatchObject({ added: [], changed: ['.gitignore'], removed: [] });
    expect(readFileSync(fixture.at('kept/precious'), 'utf8')).toBe('p\n');
    expect(readFileSync(fixture.at('plain/x'), 'utf8')).toBe('x\n');
  });

  test('a path that became ignored and another kind is restored, and that can be undone too', async () => {
    using fixture = openFixture({ 'a/x': 'x\n', 'b/y': 'y\n' });
    await using session = await fixture.connect();
    await session.call('snapshot_create', { name: 's' });
    writeFileSync(fixture.at('a/.gitignore'), 'x\n');
    writeFileSync(fixture.at('a/x'), 'other\n');
    const changed = fixture.listAll();
    const restored = await session.call('snapshot_restore', { name: 's' });
    expect(restored.isError, restored.text).toBe(false);
    expect(readFileSync(fixture.at('a/x'), 'utf8')).toBe('x\n');
    const back = await session.call('snapshot_restore', { name: restored.structured.takenBackBy });
    expect(back.isError, back.text).toBe(false);
    expect(fixture.listAll()).toEqual(changed);
  });

  test('a file where a directory was, a directory where a file was, and a link that leads out', async () => {
    using fixture = openFixture({ 'file/inner': 'i\n', directory: 'd\n', 'out/x': 'x\n' });
    using outside = openFixture({ x: 'of somebody else\n' });
    const before = fixture.listAll();
    await using session = await fixture.connect();
    await session.call('snapshot_create', { name: 's' });
    rmSync(fixture.at('file'), { recursive: true });
    writeFileSync(fixture.at('file'), 'now a file\n');
    rmSync(fixture.at('directory'));
    mkdirSync(fixture.at('directory'));
    writeFileSync(fixture.at('directory/inner'), 'x\n');
    rmSync(fixture.at('out'), { recursive: true });
    symlinkSync(outside.path, fixture.at('out'));
    const restored = await session.call('snapshot_restore', { name: 's' });
    expect(restored.isError, restored.text).toBe(false);
    expect(fixture.listAll()).toEqual(before);
    expect(outside.listAll()).toEqual({ x: 'file 644 of somebody else\n' });
  });

  test('control files stay as they are, and the answer says so', async () => {
    using fixture = openFixture({ 'a.txt': 'a\n', '.vscode/settings.json': '{}\n' });
    await using session = await fixture.connect();
    await session.call('snapshot_create', { name: 's' });
    writeFileSync(fixture.at('.vscode/settings.json'), '{ "by": "the person" }\n');
    writeFileSync(fixture.at('a.txt'), 'b\n');
    const restored = await session.call('snapshot_restore', { name: 's' });
    expect(restored.structured).toMatchObject({ changed: ['a.txt'], refused: ['.vscode/settings.json'] });
    expect(readFileSync(fixture.at('.vscode/settings.json'), 'utf8')).toContain('the person');
  });

  test('list, diff of two, replace, delete, and unknown names', async () => {
    using fixture = openFixture({ 'a.txt': 'one\n' });
    await using session = await fixture.connect();
    expect((await session.call('snapshot_list')).text).toBe('no snapshots');
    await session.call('snapshot_create', { name: 'first' });
    expect((await session.call('snapshot_diff', { name: 'first' })).text).toBe('no differences');
    writeFileSync(fixture.at('a.txt'), 'two\n');
    writeFileSync(fixture.at('b.bin'), Buffer.from([0, 1, 2]));
    await session.call('snapshot_create', { name: 'second' });
    const between = await session.call('snapshot_diff', { name: 'first', to: 'second' });
    expect(between.text).toBe(
      'changed a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\nadded b.bin (3 bytes)\n',
    );
    const replaced = await session.call('snapshot_create', { name: 'first' });
    expect(replaced.structured.replaced).toBe(true);
    expect(replaced.text).toContain('replaces');
    const names = async () =>
      (await session.call('snapshot_list')).structured.snapshots.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['first', 'second']);
    await session.call('snapshot_delete', { name: 'first' });
    expect(await names()).toEqual(['second']);
    for (const tool of ['snapshot_restore', 'snapshot_diff', 'snapshot_delete']) {
      const missing = await session.call(tool, { name: 'first' });
      expect(missing).toMatchObject({ isError: true, structured: { error: { code: 'E_NOT_FOUND' } } });
      expect(missing.text).toContain('second');
    }
    for (const name of ['x/y', '.hidden', '-x', '..', 'a b', 'ü', 'x'.repeat(101)]) {
      const refused = await session.call('snapshot_create', { name });
      expect(refused, name).toMatchObject({ isError: true, structured: { error: { code: 'E_INVALID_INPUT' } } });
    }
    for (const name of ['a..b', 'x.lock', 'x.', '_', 'A-1'])
      expect((await session.call('snapshot_create', { name })).isError, name).toBe(false);
  });

  test('survive a restart, and include changes made while no server ran', async () => {
    using fixture = openFixture({ 'a.txt': 'one\n', 'b.txt': 'b\n' });
    {
      await using session = await fixture.connect();
      await session.call('snapshot_create', { name: 's' });
    }
    writeFileSync(fixture.at('a.txt'), 'two\n');
    renameSync(fixture.at('b.txt'), fixture.at('c.txt'));
    await using session = await fixture.connect();
    const restored = await session.call('snapshot_restore', { name: 's' });
    expect(restored.structured, restored.text).toMatchObject({
      ...{ added: ['b.txt'], changed: ['a.txt'], removed: ['c.txt'] },
    });
  });

  test('can be listed and compared in a read-only workspace', async () => {
    using fixture = openFixture({ 'a.txt': 'one\n' });
    {
      await using session = await fixture.connect();
      await session.call('snapshot_create', { name: 's' });
    }
    await using session = await fixture.connect('--readonly');
    expect((await session.call('snapshot_diff', { name: 's' })).text).toBe('no differences');
    for (const tool of ['snapshot_create', 'snapshot_restore', 'snapshot_delete', 'undo'])
      expect((await session.call(tool, { name: 's' })).isError).toBe(true);
  });
});
