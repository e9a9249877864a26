import { chmodSync, closeSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createHistory } from '../../src/core/history/create-history.ts';
import type { ChangeReporter } from '../../src/core/history/ports/history.ts';
import type { WorkingTree } from '../../src/core/history/ports/working-tree.ts';
import { createDiskFiles } from '../../src/disk/disk-files.ts';
import { openRoot } from '../../src/disk/paths/handles.ts';
import { onDisk, prepareTree, type TreeFixture } from './trees.ts';

const signal = new AbortController().signal;

/** A history, and calls that change files the way the tools do. */
async function open(fixture: TreeFixture, wrap = (tree: WorkingTree) => tree) {
  const warnings: string[] = [];
  const tree = await fixture.open();
  const onWarning = (message: string) => warnings.push(message);
  const history = createHistory({ tree: wrap(tree), now: () => new Date(), onWarning });
  const handle = openRoot(fixture.path);
  onTestFinished(async () => {
    await history.idle();
    closeSync(handle);
  });
  const files = createDiskFiles({ handle, names: [fixture.path] });
  const write = (path: string, text: string, after: (reporter?: ChangeReporter) => Promise<void> = async () => {}) =>
    history.recordReported({ tool: 'write', session: 's', title: path }, async (reporter) => {
      const { replacement } = await files.change(path, () => ({ bytes: Buffer.from(text) }));
      if (replacement) reporter?.changed(replacement);
      await after(reporter);
    });
  const run = (title: string, work: () => Promise<void>) => history.record({ tool: 'bash', session: 's', title }, work);
  // The first call has everything read.
  await run('true', async () => {});
  return { history, warnings, files, write, run };
}

const read = (fixture: TreeFixture, ...names: string[]) => names.map((name) => readFileSync(fixture.at(name), 'utf8'));

test('a reported change equals what a capture finds, whatever is written', async () => {
  const fixture = prepareTree({
    '.gitignore': 'dist/\n*.log\n',
    'a.txt': 'a\n',
    'src/b.sh': 'b\n',
    'src/.gitignore': 'x\n',
  });
  chmodSync(fixture.at('src/b.sh'), 0o755);
  mkdirSync(fixture.at('empty'));
  const { history, write, run, warnings } = await open(fixture);
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
    expect(await newest(), name).toMatchObject({ call: { title: name }, paths: 1 });
  }
  // A look finds nothing that it could give to a call.
  await run('true', async () => {});
  expect(await newest()).toMatchObject({ call: { title: 'more.log' } });
  const before = onDisk(fixture.path);
  await history.undo({ count: 14 }, signal);
  expect(read(fixture, 'a.txt', 'src/b.sh', '.gitignore')).toEqual(['a\n', 'b\n', 'dist/\n*.log\n']);
  expect(Object.keys(onDisk(fixture.path)).filter((name) => /new|first|code/.test(name))).toEqual([]);
  await history.undo({ id: (await newest())?.id ?? '' }, signal);
  expect(onDisk(fixture.path)).toEqual(before);
  expect(warnings).toEqual([]);
});

test('an ignored file leaves no checkpoint, and neither does a write of the same content', async () => {
  const fixture = prepareTree({ '.gitignore': 'dist/\n', 'a.txt': 'a\n', 'dist/b': 'b\n' });
  const { history, write } = await open(fixture);
  for (const name of ['dist/b', 'dist/new', 'dist/deep/new', 'a.txt']) await write(name, 'a\n');
  expect(await history.checkpoints(10)).toEqual([]);
});

test('a change by others since the last capture belongs to no call, and undo leaves it', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
  const { history, write } = await open(fixture);
  for (const name of ['a.txt', 'b.txt']) writeFileSync(fixture.at(name), 'by hand\n');
  await write('a.txt', 'call\n');
  // In the moment after the answer.
  writeFileSync(fixture.at('c.txt'), 'by hand\n');
  expect(await history.checkpoints(10)).toMatchObject([{ call: { title: 'a.txt' }, paths: 1 }]);
  await history.undo({ count: 1 }, signal);
  expect(read(fixture, 'a.txt', 'b.txt', 'c.txt')).toEqual(['by hand\n', 'by hand\n', 'by hand\n']);
});

test('a file that others change right after the answer is a conflict for undo', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  const { history, write } = await open(fixture);
  await write('a.txt', 'call\n');
  writeFileSync(fixture.at('a.txt'), 'by hand\n');
  await expect(history.undo({ count: 1 }, signal)).rejects.toMatchObject({ code: 'E_CONFLICT' });
  expect(read(fixture, 'a.txt')).toEqual(['by hand\n']);
});

test('a write during a command does not belong to the command, and each is undone alone', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
  const { history, write, run } = await open(fixture);
  await run('outer', async () => {
    writeFileSync(fixture.at('a.txt'), '1\n');
    await write('b.txt', '1\n');
    // One that only a look can tell of, in the middle of the command.
    await write('deep/new', '1\n');
    await run('inner', async () => writeFileSync(fixture.at('c.txt'), '1\n'));
    await write('b.txt', '2\n');
    writeFileSync(fixture.at('c.txt'), '2\n');
  });
  const all = await history.checkpoints(10);
  const of = (title: string) => all.filter(({ call }) => call.title === title).map(({ paths }) => paths);
  expect([of('b.txt'), of('deep/new'), of('inner')]).toEqual([[1, 1], [1], [1]]);
  const outer = all.filter(({ call }) => call.title === 'outer').reverse();
  expect(outer.map(({ paths }) => paths)).toEqual([1, 1]);
  await history.undo({ id: outer[0]?.id ?? '' }, signal);
  expect(read(fixture, 'a.txt', 'b.txt', 'c.txt', 'deep/new')).toEqual(['a\n', '2\n', '2\n', '1\n']);
  await history.undo({ count: 5 }, signal);
  expect(read(fixture, 'a.txt', 'b.txt', 'c.txt')).toEqual(['a\n', 'b\n', 'c\n']);
});

test('a command that ends between a write and its report does not get the change', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  const { history, run, files } = await open(fixture);
  const gate = Promise.withResolvers<void>();
  const command = run('command', () => gate.promise);
  await history.recordReported({ tool: 'write', session: 's', title: 'a.txt' }, async (reporter) => {
    const { replacement } = await files.change('a.txt', () => ({ bytes: Buffer.from('1\n') }));
    gate.resolve();
    // As long as a look of the command would take, and longer.
    for (let captures = 0; captures < 5; captures++) await history.captureSource();
    if (replacement) reporter?.changed(replacement);
  });
  await command;
  expect(await history.checkpoints(10)).toMatchObject([{ call: { tool: 'write' }, paths: 1 }]);
});

test('many concurrent writes, also of one file, are undone to the first state', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const { history, write, run, warnings } = await open(fixture);
  const before = onDisk(fixture.path);
  const calls = Array.from({ length: 60 }, (_, n) => write(['a.txt', 'b.txt', `new-${n}`][n % 3] ?? '', `${n}\n`));
  const captures = Array.from({ length: 5 }, (_, n) =>
    run(`${n}`, async () => writeFileSync(fixture.at(`run-${n}`), '')),
  );
  await Promise.all([...calls, ...captures]);
  const all = await history.checkpoints(1000);
  expect(all.filter(({ call, paths }) => call.tool === 'write' && paths === 1)).toHaveLength(60);
  // Of commands at the same time one may have it all.
  const commands = new Set(all.flatMap(({ call }) => (call.tool === 'bash' ? [call.title] : []))).size;
  await history.undo({ count: 60 + commands }, signal);
  expect(onDisk(fixture.path)).toEqual(before);
  expect(warnings).toEqual([]);
});

test('changes of a formatter after a write are captured in the same step; its new files belong to no call', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  const { history, write } = await open(fixture);
  await write('a.txt', 'call\n', async (reporter) => {
    await reporter?.captureAround(async () => {
      writeFileSync(fixture.at('a.txt'), 'formatted\n');
      writeFileSync(fixture.at('cache'), '');
    });
  });
  expect(await history.checkpoints(10)).toMatchObject([{ paths: 1 }]);
  await history.undo({ count: 1 }, signal);
  expect(onDisk(fixture.path)).toEqual({ 'a.txt': 'file 644 a\n', cache: 'file 644 ' });
});

test('a call that fails after its change can be undone; one that changed nothing leaves nothing', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  const { history, write } = await open(fixture);
  const failing = async () => Promise.reject(new RangeError('of the call'));
  await expect(write('a.txt', 'b\n', failing)).rejects.toThrow('of the call');
  rmSync(fixture.at('a.txt'));
  await expect(write('a.txt/x/', '')).rejects.toThrow();
  expect(await history.checkpoints(10)).toMatchObject([{ call: { title: 'a.txt' } }]);
});

test('a change that cannot be stored is reported, fails no call, and the next change is stored', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  let isBroken = false;
  const { history, write, warnings } = await open(fixture, (tree) => ({
    ...tree,
    store: {
      ...tree.store,
      put: async (contents, notes) =>
        isBroken && notes?.length ? Promise.reject(new Error('no disk')) : tree.store.put(contents, notes),
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
  const other = await open(fixture);
  await other.history.undo({ count: 2 }, signal);
  expect(read(fixture, 'a.txt', 'b.txt')).toEqual(['1\n', 'b\n']);
});

test('reported changes are stored when the program ends', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  const { history, write } = await open(fixture);
  await write('a.txt', '1\n');
  await history.idle();
  const other = await open(fixture);
  await other.history.undo({ count: 1 }, signal);
  expect(read(fixture, 'a.txt')).toEqual(['a\n']);
});

/** A workspace whose first reading ends when the test says so. */
async function openUnread(fixture: TreeFixture) {
  const read = Promise.withResolvers<void>();
  const tree = await fixture.open();
  const warnings: string[] = [];
  const capture: WorkingTree['capture'] = async (options) => {
    options.onFound?.({ files: 100_000, bytes: 0 });
    await read.promise;
    return tree.capture(options);
  };
  const history = createHistory({
    tree: { ...tree, capture },
    now: () => new Date(),
    onWarning: (it) => warnings.push(it),
  });
  const handle = openRoot(fixture.path);
  onTestFinished(async () => {
    await history.idle();
    closeSync(handle);
  });
  const files = createDiskFiles({ handle, names: [fixture.path] });
  const write = (path: string, text: string) =>
    history.recordReported({ tool: 'write', session: 's', title: path }, async (reporter) => {
      const { replacement } = await files.change(path, () => ({ bytes: Buffer.from(text) }));
      if (replacement) reporter?.changed(replacement);
    });
  return { history, write, warnings, finish: () => read.resolve() };
}

test('calls before the first capture of a large workspace do not wait, and can be undone', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n', 'deep/b.txt': 'b\n' });
  const { history, write, warnings, finish } = await openUnread(fixture);
  const before = onDisk(fixture.path);
  for (let round = 0; round < 40; round++) await write('a.txt', `${round}\n`);
  await write('deep/b.txt', '1\n');
  await write('deep/er/new', '1\n');
  expect(await history.checkpoints(100)).toHaveLength(42);
  const undone = history.undo({ count: 42 }, signal);
  finish();
  await undone;
  expect(onDisk(fixture.path)).toEqual(before);
  expect(warnings).toEqual([]);
});

test('an ignored file leaves no checkpoint after the first capture either', async () => {
  const fixture = prepareTree({ '.gitignore': 'dist/\n', 'a.txt': 'a\n', 'dist/b': 'b\n' });
  const { history, write, finish } = await openUnread(fixture);
  for (const name of ['dist/b', 'a.txt', 'dist/new']) await write(name, '1\n');
  finish();
  await history.undo({ count: 1 }, signal);
  expect(read(fixture, 'a.txt', 'dist/b')).toEqual(['a\n', '1\n']);
  const titles = (await history.checkpoints(10)).map(({ call }) => call.title);
  expect(titles.filter((title) => title.startsWith('dist'))).toEqual([]);
});

test('a command before the first capture of a large workspace does not wait, and its caller learns that it cannot be undone', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  const { history, write, finish } = await openUnread(fixture);
  const reports: string[] = [];
  const onNotUndoable = (reason: string) => reports.push(reason);
  const work = async () => writeFileSync(fixture.at('a.txt'), 'unseen\n');
  await history.record({ tool: 'bash', session: 's', title: 'x' }, work, onNotUndoable);
  expect(reports).toEqual([expect.stringContaining('not been read')]);
  await write('a.txt', '1\n');
  finish();
  await history.undo({ count: 1 }, signal);
  expect(read(fixture, 'a.txt')).toEqual(['unseen\n']);
  await history.record({ tool: 'bash', session: 's', title: 'y' }, async () => {}, onNotUndoable);
  expect(reports).toHaveLength(1);
});

test('a write lists none of its parent directories, however large', async () => {
  const many = Array.from({ length: 3000 }, (_, index) => [`src/${index}.txt`, '']);
  const fixture = prepareTree(Object.fromEntries(many));
  const kept: number[] = [];
  const { history, write } = await open(fixture, (tree) => ({
    ...tree,
    store: {
      ...tree.store,
      put(contents, notes) {
        kept.push(...contents.map(({ size }) => size));
        return tree.store.put(contents, notes);
      },
    },
  }));
  kept.length = 0;
  for (let round = 0; round < 20; round++) await write(`src/${round}.txt`, `${round}\n`);
  expect(await history.checkpoints(100)).toHaveLength(20);
  // Of a listing of the directory each would be more than 200 kB.
  expect(Math.max(...kept)).toBeLessThan(1000);
  await history.undo({ count: 20 }, signal);
  expect(read(fixture, 'src/0.txt', 'src/19.txt')).toEqual(['', '']);
});
