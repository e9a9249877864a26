import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { emptyTreeHash, type PathChange } from '../../src/core/history/ports/tree.ts';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { onDisk, prepareTree } from './trees.ts';
import { follow, paths, scope } from './working-tree-fixture.ts';

const reversed = (changes: readonly PathChange[]) =>
  changes.map(({ path, before, after }) => ({ path, before: after, after: before }));

test('apply refuses everything if one path has changed, and names it', async () => {
  const fixture = prepareTree({ a: '1', b: '1', 'd/c': '1' });
  const tree = await fixture.open();
  const before = (await tree.capture({ scope })).root;
  for (const name of ['a', 'b', 'd/c']) writeFileSync(fixture.at(name), 'new');
  const changes = await tree.diff(before, (await tree.capture({ scope })).root);
  const cases: [string, () => void, () => void][] = [
    ['b', () => writeFileSync(fixture.at('b'), 'mine'), () => writeFileSync(fixture.at('b'), 'new')],
    ['b', () => chmodSync(fixture.at('b'), 0o755), () => chmodSync(fixture.at('b'), 0o644)],
    ['b', () => rmSync(fixture.at('b')), () => writeFileSync(fixture.at('b'), 'new')],
    ['d/c', () => renameSync(fixture.at('d'), fixture.at('e')), () => renameSync(fixture.at('e'), fixture.at('d'))],
  ];
  for (const [path, spoil, repair] of cases) {
    spoil();
    const disk = onDisk(fixture.path);
    await expect(tree.apply(reversed(changes))).rejects.toMatchObject({
      code: 'E_CONFLICT',
      details: { paths: [path] },
    });
    expect(onDisk(fixture.path)).toEqual(disk);
    repair();
  }
  await tree.apply(reversed(changes));
  expect((await tree.capture({ scope })).root).toBe(before);
});

test('a file in the way of a new path is kept', async () => {
  const fixture = prepareTree({ 'a/b': '1' });
  const tree = await fixture.open();
  const { root } = await tree.capture({ scope });
  const [empty] = await tree.diff(emptyTreeHash, root);
  rmSync(fixture.at('a'), { recursive: true });
  writeFileSync(fixture.at('a'), 'a file now');
  await expect(tree.apply([empty!])).rejects.toMatchObject({ code: 'E_CONFLICT', details: { paths: ['a/b'] } });
  expect(readFileSync(fixture.at('a'), 'utf8')).toBe('a file now');
});

test('a directory that is replaced by a file keeps its ignored files', async () => {
  const fixture = prepareTree({ 'a/b': '1', 'a/sub/c': '2', '.gitignore': '*.secret\n' });
  const tree = await fixture.open();
  const before = (await tree.capture({ scope: 'source' })).root;
  rmSync(fixture.at('a'), { recursive: true });
  writeFileSync(fixture.at('a'), 'file');
  const changes = await tree.diff(before, (await tree.capture({ scope: 'source' })).root);
  await tree.apply(reversed(changes));
  expect(onDisk(fixture.path)).toMatchObject({ 'a/b': 'file 644 1', 'a/sub/c': 'file 644 2' });
  writeFileSync(fixture.at('a/sub/x.secret'), 'only here');
  await expect(tree.apply(changes)).rejects.toMatchObject({ code: 'E_CONFLICT', details: { paths: ['a'] } });
  expect(readFileSync(fixture.at('a/sub/x.secret'), 'utf8')).toBe('only here');
  rmSync(fixture.at('a/sub/x.secret'));
  await tree.apply(changes);
  expect(readFileSync(fixture.at('a'), 'utf8')).toBe('file');
});

test('empty directories are removed, and those with ignored files stay', async () => {
  const fixture = prepareTree({ 'keep/a': '1', '.gitignore': '*.o\n' });
  const tree = await fixture.open();
  const before = (await tree.capture({ scope: 'source' })).root;
  mkdirSync(fixture.at('x/y/z'), { recursive: true });
  mkdirSync(fixture.at('built'));
  writeFileSync(fixture.at('x/y/z/f'), 'f');
  writeFileSync(fixture.at('built/a.c'), 'f');
  writeFileSync(fixture.at('built/a.o'), 'o');
  const after = (await tree.capture({ scope: 'source' })).root;
  await tree.apply(await tree.diff(after, before));
  expect(existsSync(fixture.at('x'))).toBe(false);
  expect(readFileSync(fixture.at('built/a.o'), 'utf8')).toBe('o');
  expect(existsSync(fixture.at('built/a.c'))).toBe(false);
});

test('no file is written through a link, outside or inside', async () => {
  const fixture = prepareTree({ 'd/a': 'mine', victim: 'untouched' });
  const outside = prepareTree({ a: 'mine' });
  const tree = await fixture.open();
  const before = (await tree.capture({ scope })).root;
  writeFileSync(fixture.at('d/a'), 'changed');
  const changes = reversed(await tree.diff(before, (await tree.capture({ scope })).root));
  // The directory becomes a link to another with just such a file.
  writeFileSync(outside.at('a'), 'changed');
  rmSync(fixture.at('d'), { recursive: true });
  symlinkSync(outside.path, fixture.at('d'));
  await expect(tree.apply(changes)).rejects.toMatchObject({ code: 'E_CONFLICT' });
  expect(readFileSync(outside.at('a'), 'utf8')).toBe('changed');
  // A link in the place of the file: what it leads to stays.
  rmSync(fixture.at('d'));
  mkdirSync(fixture.at('d'));
  symlinkSync('../victim', fixture.at('d/a'));
  const linked = (await tree.capture({ scope })).root;
  await tree.apply(await tree.diff(linked, before));
  expect(lstatSync(fixture.at('d/a')).isFile()).toBe(true);
  expect(readFileSync(fixture.at('victim'), 'utf8')).toBe('untouched');
});

test('a link that leads out is captured and restored as a link', async () => {
  const fixture = prepareTree();
  const outside = prepareTree({ secret: 'not yours' });
  symlinkSync(outside.at('secret'), fixture.at('link'));
  symlinkSync(outside.path, fixture.at('dir'));
  const tree = await fixture.open(follow());
  const { root } = await tree.capture({ scope });
  expect(await paths(tree, root)).toEqual(['dir', 'link']);
  expect((await tree.store.findMissing([sha256('not yours')])).size).toBe(1);
  const disk = onDisk(fixture.path);
  await tree.apply(await tree.diff(root, emptyTreeHash));
  expect(onDisk(fixture.path)).toEqual({});
  await tree.apply(await tree.diff(emptyTreeHash, root));
  expect(onDisk(fixture.path)).toEqual(disk);
  expect(readFileSync(outside.at('secret'), 'utf8')).toBe('not yours');
});

test('a directory that is swapped for a link again and again never leads out', async () => {
  const fixture = prepareTree({ 'd/a': 'one' });
  const outside = prepareTree();
  const tree = await fixture.open(follow());
  const one = (await tree.capture({ scope })).root;
  writeFileSync(fixture.at('d/a'), 'two');
  const two = (await tree.capture({ scope })).root;
  const swapper = `
    const fs = require('node:fs');
    const [d, real, outside] = process.argv.slice(1);
    const attempt = (work) => { try { work(); } catch {} };
    for (;;) {
      attempt(() => fs.renameSync(d, real));
      attempt(() => fs.symlinkSync(outside, d));
      attempt(() => fs.unlinkSync(d));
      attempt(() => fs.renameSync(real, d));
    }`;
  const child = spawn(process.execPath, ['-e', swapper, fixture.at('d'), fixture.at('real'), outside.path]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const changes = await tree.diff(one, two);
  let refusals = 0;
  for (let round = 0; round < 150; round++) {
    await tree.apply(round % 2 === 0 ? reversed(changes) : changes).catch((thrown) => {
      expect(thrown).toMatchObject({ code: 'E_CONFLICT' });
      refusals += 1;
    });
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(onDisk(outside.path)).toEqual({});
  expect(refusals).toBeGreaterThan(0);
  const texts = Object.entries(onDisk(fixture.path)).filter(([path]) => path.endsWith('/a'));
  for (const [, text] of texts) expect(['file 644 one', 'file 644 two']).toContain(text);
});

test('control files are neither changed nor removed, and the rest is applied', async () => {
  const fixture = prepareTree({
    'a.txt': '1',
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/objects/x': '',
    '.git/config': '[core]\n',
    '.vscode/tasks.json': '{}',
    'nested/.git/HEAD': 'ref: x\n',
    'nested/.git/objects/y': '',
    'nested/.git/config': '[core]\n\tfsmonitor = touch /tmp/croft-was-here\n',
  });
  const tree = await fixture.open();
  const evil = (await tree.capture({ scope })).root;
  writeFileSync(fixture.at('nested/.git/config'), '[core]\n');
  writeFileSync(fixture.at('.git/config'), '[core]\n\thooksPath = /tmp\n');
  writeFileSync(fixture.at('.vscode/tasks.json'), '{"a": 1}');
  writeFileSync(fixture.at('a.txt'), '2');
  const now = (await tree.capture({ scope })).root;
  const { refused } = await tree.apply(await tree.diff(now, evil));
  expect(refused).toEqual(['.git/config', '.vscode/tasks.json', 'nested/.git/config']);
  expect(readFileSync(fixture.at('nested/.git/config'), 'utf8')).toBe('[core]\n');
  expect(readFileSync(fixture.at('a.txt'), 'utf8')).toBe('1');
  const gone = await tree.diff((await tree.capture({ scope })).root, emptyTreeHash);
  expect((await tree.apply(gone)).refused).toContain('.vscode/tasks.json');
  expect(existsSync(fixture.at('.vscode/tasks.json'))).toBe(true);
  expect(existsSync('/tmp/croft-was-here')).toBe(false);
});

test('two names of one file become two files, and writing one leaves the other', async () => {
  const fixture = prepareTree({ a: 'same' });
  linkSync(fixture.at('a'), fixture.at('b'));
  const tree = await fixture.open();
  const before = (await tree.capture({ scope })).root;
  rmSync(fixture.at('a'));
  writeFileSync(fixture.at('a'), 'other');
  const after = (await tree.capture({ scope })).root;
  const changes = await tree.diff(before, after);
  expect(changes.map(({ path }) => path)).toEqual(['a']);
  await tree.apply(reversed(changes));
  expect(onDisk(fixture.path)).toEqual({ a: 'file 644 same', b: 'file 644 same' });
});

test('paths with 200 levels can be created and removed', async () => {
  const fixture = prepareTree();
  const deep = Array.from({ length: 200 }, (_, level) => `d${level % 10}`).join('/');
  mkdirSync(fixture.at(deep), { recursive: true });
  writeFileSync(fixture.at(`${deep}/f`), 'deep');
  const tree = await fixture.open(follow());
  const { root } = await tree.capture({ scope });
  expect(await paths(tree, root)).toEqual([`${deep}/f`]);
  await tree.apply(await tree.diff(root, emptyTreeHash));
  expect(onDisk(fixture.path)).toEqual({});
  await tree.apply(await tree.diff(emptyTreeHash, root));
  expect(readFileSync(fixture.at(`${deep}/f`), 'utf8')).toBe('deep');
  expect((await tree.capture({ scope })).root).toBe(root);
});

test('a state with missing content changes nothing', async () => {
  const fixture = prepareTree({ a: '1', b: '1' });
  const tree = await fixture.open();
  const { root } = await tree.capture({ scope });
  const [a, b] = [(await tree.entry(root, 'a'))!, (await tree.entry(root, 'b'))!];
  const disk = onDisk(fixture.path);
  const lost = { ...b, hash: sha256('never kept'), size: 10 };
  const changes = [
    { path: 'a', before: a, after: { ...a, mode: 0o600 } },
    { path: 'b', before: b, after: lost },
  ];
  await expect(tree.apply(changes)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  // Somebody else has it, and says the truth or not.
  async function* lie() {
    yield Buffer.from('something');
  }
  await expect(tree.apply(changes, { read: lie })).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  expect(onDisk(fixture.path)).toEqual(disk);
  async function* truth() {
    yield Buffer.from('never ');
    yield Buffer.from('kept');
  }
  await tree.apply(changes, { read: truth });
  expect(onDisk(fixture.path)).toEqual({ a: 'file 600 1', b: 'file 644 never kept' });
  const after = await tree.capture({ scope });
  expect((await tree.store.read((await tree.entry(after.root, 'b'))!.hash)).toString()).toBe('never kept');
});

test('paths that lead outside are refused before anything changes', async () => {
  const fixture = prepareTree();
  const tree = await fixture.open();
  const after = { kind: 'file', mode: 0o644, size: 0, hash: emptyTreeHash } as const;
  for (const path of ['../x', '/etc/x', 'a/../../x', '', 'a//b', 'a/', '.', 'x\0y', `${'n'.repeat(256)}`]) {
    await expect(tree.apply([{ path, after }])).rejects.toMatchObject({ code: 'E_INVALID_PATH' });
    await expect(tree.amend(emptyTreeHash, [{ path, after }])).rejects.toMatchObject({ code: 'E_INVALID_PATH' });
  }
});
