import { chmodSync, closeSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createHistory } from '../../src/core/history/create-history.ts';
import type { Telling } from '../../src/core/history/history.ts';
import type { WorkingTree } from '../../src/core/history/working-tree.ts';
import { createDiskFiles } from '../../src/disk/files.ts';
import { openRoot } from '../../src/disk/handles.ts';
import { onDisk, prepareTree, type TreeGround } from './trees.ts';

const signal = new AbortController().signal;

/** A history, and calls that change files the way the tools do. */
async function open(ground: TreeGround, wrap = (tree: WorkingTree) => tree) {
  const warnings: string[] = [];
  const tree = await ground.open();
  const onWarning = (message: string) => warnings.push(message);
  const history = createHistory({ tree: wrap(tree), now: () => new Date(), onWarning });
  const handle = openRoot(ground.path);
  onTestFinished(async () => {
    await history.idle();
    closeSync(handle);
  });
  const files = createDiskFiles({ handle, names: [ground.path] });
  const write = (path: string, text: string, after: (telling?: Telling) => Promise<void> = async () => {}) =>
    history.recordTold({ tool: 'write', session: 's', title: path }, async (telling) => {
      const { replacement } = await files.change(path, () => ({ bytes: Buffer.from(text) }));
      if (replacement) telling?.changed(replacement);
      await after(telling);
    });
  const run = (title: string, work: () => Promise<void>) => history.record({ tool: 'bash', session: 's', title }, work);
  // The first call has everything read.
  await run('true', async () => {});
  return { history, warnings, files, write, run };
}

const read = (ground: TreeGround, ...names: string[]) => names.map((name) => readFileSync(ground.at(name), 'utf8'));

test('the tree that is told of is the one that a look finds, whatever is written', async () => {
  const ground = prepareTree({
    '.gitignore': 'dist/\n*.log\n',
    'a.txt': 'a\n',
    'src/b.sh': 'b\n',
    'src/.gitignore': 'x\n',
  });
  chmodSync(ground.at('src/b.sh'), 0o755);
  mkdirSync(ground.at('empty'));
  const { history, write, warnings } = await open(ground);
  const newest = async () => (await history.checkpoints(1))[0];
  const names = [
    'a.txt',
    'src/b.sh',
    'new.txt',
    'new.txt',
    'src/ünï\ncode',
    'empty/first',
    'deep/er/new',
    'src/.gitignore',
  ];
  for (const [at, name] of [...names, 'a.txt', 'src/x', 'src/y', '.gitignore', 'dist/z', 'more.log'].entries()) {
    await write(name, name.endsWith('.gitignore') ? `${at}\n` : `${at} ${name}\n`);
    expect(await newest(), name).toMatchObject({ call: { title: name }, paths: 1, after: await history.look() });
  }
  const before = onDisk(ground.path);
  await history.undo({ count: 14 }, signal);
  expect(read(ground, 'a.txt', 'src/b.sh', '.gitignore')).toEqual(['a\n', 'b\n', 'dist/\n*.log\n']);
  expect(Object.keys(onDisk(ground.path)).filter((name) => /new|first|code/.test(name))).toEqual([]);
  await history.undo({ id: (await newest())?.id ?? '' }, signal);
  expect(onDisk(ground.path)).toEqual(before);
  expect(warnings).toEqual([]);
});

test('what git ignores leaves no checkpoint, nor does a write of the same', async () => {
  const ground = prepareTree({ '.gitignore': 'dist/\n', 'a.txt': 'a\n', 'dist/b': 'b\n' });
  const { history, write } = await open(ground);
  for (const name of ['dist/b', 'dist/new', 'dist/deep/new', 'a.txt']) await write(name, 'a\n');
  expect(await history.checkpoints(10)).toEqual([]);
});

test('what others changed since the last look is nobody’s, and an undo leaves it', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
  const { history, write } = await open(ground);
  for (const name of ['a.txt', 'b.txt']) writeFileSync(ground.at(name), 'by hand\n');
  await write('a.txt', 'call\n');
  // In the moment after the answer.
  writeFileSync(ground.at('c.txt'), 'by hand\n');
  expect(await history.checkpoints(10)).toMatchObject([{ call: { title: 'a.txt' }, paths: 1 }]);
  await history.undo({ count: 1 }, signal);
  expect(read(ground, 'a.txt', 'b.txt', 'c.txt')).toEqual(['by hand\n', 'by hand\n', 'by hand\n']);
});

test('a file that somebody changes in the moment after the answer is theirs: a conflict', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n' });
  const { history, write } = await open(ground);
  await write('a.txt', 'call\n');
  writeFileSync(ground.at('a.txt'), 'by hand\n');
  await expect(history.undo({ count: 1 }, signal)).rejects.toMatchObject({ code: 'E_CONFLICT' });
  expect(read(ground, 'a.txt')).toEqual(['by hand\n']);
});

test('a write while a command runs is not the command’s, and each is taken back without the other', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
  const { history, write, run } = await open(ground);
  await run('outer', async () => {
    writeFileSync(ground.at('a.txt'), '1\n');
    await write('b.txt', '1\n');
    // One that only a look can tell of, in the middle of the command.
    await write('deep/new', '1\n');
    await run('inner', async () => writeFileSync(ground.at('c.txt'), '1\n'));
    await write('b.txt', '2\n');
    writeFileSync(ground.at('c.txt'), '2\n');
  });
  const all = await history.checkpoints(10);
  const of = (title: string) => all.filter(({ call }) => call.title === title).map(({ paths }) => paths);
  expect([of('b.txt'), of('deep/new'), of('inner')]).toEqual([[1, 1], [1], [1]]);
  const outer = all.filter(({ call }) => call.title === 'outer').reverse();
  expect(outer.map(({ paths }) => paths)).toEqual([1, 1]);
  await history.undo({ id: outer[0]?.id ?? '' }, signal);
  expect(read(ground, 'a.txt', 'b.txt', 'c.txt', 'deep/new')).toEqual(['a\n', '2\n', '2\n', '1\n']);
  await history.undo({ count: 5 }, signal);
  expect(read(ground, 'a.txt', 'b.txt', 'c.txt')).toEqual(['a\n', 'b\n', 'c\n']);
});

test('a command that ends between a write and its telling has nothing of it', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n' });
  const { history, run, files } = await open(ground);
  const gate = Promise.withResolvers<void>();
  const command = run('command', () => gate.promise);
  await history.recordTold({ tool: 'write', session: 's', title: 'a.txt' }, async (telling) => {
    const { replacement } = await files.change('a.txt', () => ({ bytes: Buffer.from('1\n') }));
    gate.resolve();
    // As long as a look of the command would take, and longer.
    for (let looks = 0; looks < 5; looks++) await history.look();
    if (replacement) telling?.changed(replacement);
  });
  await command;
  expect(await history.checkpoints(10)).toMatchObject([{ call: { tool: 'write' }, paths: 1 }]);
});

test('many at once, of the same files too, are undone to where they began', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const { history, write, run, warnings } = await open(ground);
  const before = onDisk(ground.path);
  const calls = Array.from({ length: 60 }, (_, n) => write(['a.txt', 'b.txt', `new-${n}`][n % 3] ?? '', `${n}\n`));
  const looks = Array.from({ length: 5 }, (_, n) => run(`${n}`, async () => writeFileSync(ground.at(`run-${n}`), '')));
  await Promise.all([...calls, ...looks]);
  const all = await history.checkpoints(1000);
  expect(all.filter(({ call, paths }) => call.tool === 'write' && paths === 1)).toHaveLength(60);
  // Of commands at the same time one may have it all.
  const commands = new Set(all.flatMap(({ call }) => (call.tool === 'bash' ? [call.title] : []))).size;
  await history.undo({ count: 60 + commands }, signal);
  expect(onDisk(ground.path)).toEqual(before);
  expect(warnings).toEqual([]);
});

test('what programs do after a write is found by looking, and undone with it', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n' });
  const { history, write } = await open(ground);
  await write('a.txt', 'call\n', async (telling) => {
    await telling?.looking(async () => {
      writeFileSync(ground.at('a.txt'), 'formatted\n');
      writeFileSync(ground.at('cache'), '');
    });
  });
  expect(await history.checkpoints(10)).toMatchObject([{ paths: 2 }, { paths: 1 }]);
  await history.undo({ count: 1 }, signal);
  expect(onDisk(ground.path)).toEqual({ 'a.txt': 'file 644 a\n' });
});

test('a call that fails after its change can be undone; one that changed nothing leaves nothing', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n' });
  const { history, write } = await open(ground);
  const failing = async () => Promise.reject(new RangeError('of the call'));
  await expect(write('a.txt', 'b\n', failing)).rejects.toThrow('of the call');
  rmSync(ground.at('a.txt'));
  await expect(write('a.txt/x/', '')).rejects.toThrow();
  expect(await history.checkpoints(10)).toMatchObject([{ call: { title: 'a.txt' } }]);
});

test('what cannot be kept is said, fails nobody, and the next is kept again', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  let isBroken = false;
  const { history, write, warnings } = await open(ground, (tree) => ({
    ...tree,
    store: {
      ...tree.store,
      keep: async (contents, notes) =>
        isBroken && notes?.length ? Promise.reject(new Error('no disk')) : tree.store.keep(contents, notes),
    },
  }));
  isBroken = true;
  await write('a.txt', '1\n');
  expect(await history.checkpoints(10)).toEqual([]);
  expect(warnings.join()).toContain('no disk');
  isBroken = false;
  await write('b.txt', '1\n');
  await write('b.txt', '2\n');
  expect(await history.checkpoints(10)).toHaveLength(2);
  // By one that has nothing but what is kept.
  const other = await open(ground);
  await other.history.undo({ count: 2 }, signal);
  expect(read(ground, 'a.txt', 'b.txt')).toEqual(['1\n', 'b\n']);
});

test('what was told is kept when the program ends', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n' });
  const { history, write } = await open(ground);
  await write('a.txt', '1\n');
  await history.idle();
  const other = await open(ground);
  await other.history.undo({ count: 1 }, signal);
  expect(read(ground, 'a.txt')).toEqual(['a\n']);
});
