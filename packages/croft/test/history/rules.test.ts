import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { createHistory, type HistoryOptions } from '../../src/core/history/create-history.ts';
import type { HistoryStore } from '../../src/core/history/store.ts';
import type { WorkingTree } from '../../src/core/history/working-tree.ts';
import { openSqliteStore } from '../../src/history/sqlite-store.ts';
import { makeDirectory } from '../harness.ts';
import { prepareTree, type TreeGround } from './trees.ts';

const dayMs = 86_400_000;
const signal = new AbortController().signal;

interface Opened {
  readonly options?: Partial<HistoryOptions>;
  wrap?(tree: WorkingTree): WorkingTree;
}

async function open(ground: TreeGround, { options = {}, wrap = (tree) => tree }: Opened = {}) {
  const clock = { ms: Date.parse('2026-01-01T00:00:00Z') };
  const warnings: string[] = [];
  const tree = await ground.open();
  const history = createHistory({
    tree: wrap(tree),
    // Later each time, as clocks are.
    now() {
      clock.ms += 1;
      return new Date(clock.ms);
    },
    onWarning: (message) => warnings.push(message),
    ...options,
  });
  const write = (name: string, text: string) =>
    history.record({ tool: 'write', session: 's', title: name }, async () => writeFileSync(ground.at(name), text));
  return { tree, history, clock, warnings, write };
}

test('checkpoints go with age and number, automatic snapshots too, and what people named stays', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n' });
  const retention = { count: 3, everyCheckpoints: 1, collectEveryMs: 0 };
  const { history, clock, write, warnings, tree } = await open(ground, { options: { retention } });
  const ids = async () => (await history.checkpoints(100)).map(({ id }) => id);
  const names = async () => (await history.snapshots()).map(({ name }) => name);
  await history.snapshot({ name: 'mine', signal });
  await write('large.txt', 'x'.repeat(200_000));
  for (let n = 0; n < 5; n++) await write('large.txt', `${n}`.repeat(200_000));
  await history.idle();
  await vi.waitFor(async () => expect(await ids()).toEqual(['cp_000006', 'cp_000005', 'cp_000004']), 20_000);
  const { report } = await history.restore({ name: 'mine' }, signal);
  expect(await names()).toEqual([report.takenBackBy, 'mine']);
  const size = await tree.store.size();

  clock.ms += 8 * dayMs;
  await write('a.txt', 'later\n');
  await vi.waitFor(async () => expect(await ids()).toHaveLength(1), 20_000);
  // What was captured last stays a little longer.
  for (let n = 0; n < 40; n++) await write('a.txt', `${n}\n`);
  await vi.waitFor(async () => expect(await names()).toEqual(['mine']), 20_000);
  await vi.waitFor(async () => expect(await tree.store.size()).toBeLessThan(size - 400_000), 20_000);
  await history.restore({ name: 'mine' }, signal);
  expect(readFileSync(ground.at('a.txt'), 'utf8')).toBe('a\n');
  expect(warnings).toEqual([]);
});

test('a call that fails leaves a checkpoint, and its own failure', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n' });
  const { history } = await open(ground);
  const work = async () => {
    rmSync(ground.at('a.txt'));
    throw new RangeError('of the call');
  };
  await expect(history.record({ tool: 'bash', session: 's', title: 'x' }, work)).rejects.toThrow('of the call');
  expect(await history.checkpoints(10)).toMatchObject([{ call: { tool: 'bash' }, paths: 1 }]);
});

test('what goes wrong with the history is no failure of a call, and is said', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n' });
  let isBroken = true;
  const { history, warnings, write } = await open(ground, {
    wrap: (tree) => ({
      ...tree,
      capture: async (options) => (isBroken ? Promise.reject(new Error('no disk')) : tree.capture(options)),
    }),
  });
  await write('a.txt', 'b\n');
  expect(warnings.join()).toContain('no disk');
  expect(await history.look()).toBeUndefined();
  await history.learned({ tool: 'run_tests', project: 'x', verdict: 'passed', at: '' }, 'x');
  isBroken = false;
  await write('a.txt', 'c\n');
  expect(await history.checkpoints(10)).toMatchObject([{ call: { title: 'a.txt' } }]);
  await history.undo({ count: 1 }, signal);
  expect(readFileSync(ground.at('a.txt'), 'utf8')).toBe('b\n');
});

test('a workspace that takes long to read holds up one call for a while, and the next not at all', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const read = Promise.withResolvers<void>();
  let captures = 0;
  const { history, write } = await open(ground, {
    options: { firstReadMs: 1 },
    wrap: (tree) => ({
      ...tree,
      async capture(options) {
        captures += 1;
        if (captures === 1) await read.promise;
        return tree.capture(options);
      },
    }),
  });
  await write('a.txt', '1\n');
  await write('a.txt', '2\n');
  expect(captures).toBe(1);
  expect(await history.checkpoints(10)).toEqual([]);
  await history.record({ tool: 'bash', session: 's', title: 'x' }, async () => {
    writeFileSync(ground.at('b.txt'), 'unseen\n');
    read.resolve();
    await vi.waitFor(() => expect(captures).toBeGreaterThan(0));
    // The first reading is over when another look can be had.
    await history.snapshots();
    await vi.waitFor(async () => expect(await history.look()).toBeDefined(), 20_000);
    writeFileSync(ground.at('a.txt'), '3\n');
  });
  expect(await history.checkpoints(10)).toMatchObject([{ call: { tool: 'bash' }, isPartial: true, paths: 1 }]);
  await history.undo({ count: 1 }, signal);
  expect(readFileSync(ground.at('a.txt'), 'utf8')).toBe('2\n');
  expect(readFileSync(ground.at('b.txt'), 'utf8')).toBe('unseen\n');
});

test('a call within another is taken back with it, or by itself', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const { history, write } = await open(ground);
  await history.record({ tool: 'bash', session: 's', title: 'outer' }, async () => {
    writeFileSync(ground.at('a.txt'), '1\n');
    await write('b.txt', '1\n');
    writeFileSync(ground.at('c.txt'), '1\n');
  });
  const [last, inner, first] = await history.checkpoints(10);
  expect([last, inner, first]).toMatchObject([
    { call: { title: 'outer' }, alongside: [{ title: 'b.txt' }] },
    { call: { title: 'b.txt' }, alongside: [{ title: 'outer' }] },
    { call: { title: 'outer' } },
  ]);
  const { undone } = await history.undo({ count: 1 }, signal);
  expect(undone.map(({ id }) => id)).toEqual([last?.id, first?.id]);
  const texts = () => ['a.txt', 'b.txt'].map((name) => readFileSync(ground.at(name), 'utf8'));
  expect(texts()).toEqual(['a\n', '1\n']);
  await history.undo({ count: 1 }, signal);
  expect(texts()).toEqual(['a\n', 'b\n']);
});

test('two servers of one directory keep each other’s checkpoints', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n' });
  const [one, two] = [await open(ground), await open(ground)];
  await one.write('a.txt', '1\n');
  await two.write('a.txt', '2\n');
  await one.write('a.txt', '3\n');
  await two.history.undo({ count: 3 }, signal);
  expect(readFileSync(ground.at('a.txt'), 'utf8')).toBe('a\n');
  expect(await one.history.checkpoints(10)).toMatchObject([{ id: 'cp_000004' }, {}, {}, { id: 'cp_000001' }]);
});

test('snapshots kept elsewhere are whole there: another server brings them back from nothing else', async () => {
  const files = { 'a.txt': 'a\n', 'deep/er/b.txt': 'b\n', 'deep/large': 'x'.repeat(3_000_000), 'same/c': 'c\n' };
  const ground = prepareTree(files);
  using place = makeDirectory();
  const archive: HistoryStore = await openSqliteStore(place.at('archive.db'));
  await using _closing = archive;
  const first = await open(ground, { options: { archive } });
  await first.history.snapshot({ name: 's', signal });
  expect(await first.tree.store.notes('snapshot')).toEqual([]);

  const other = prepareTree({ 'same/c': 'c\n', 'more.txt': 'more\n' });
  const second = await open(other, { options: { archive } });
  const diff = await second.history.diff({ from: 's', signal });
  expect(diff.map(({ path }) => path)).toEqual(['a.txt', 'deep/er/b.txt', 'deep/large', 'more.txt']);
  expect(diff[0]?.text).toContain('-a\n');
  const { report } = await second.history.restore({ name: 's' }, signal);
  expect(report).toMatchObject({ added: ['a.txt', 'deep/er/b.txt', 'deep/large'], removed: ['more.txt'] });
  for (const [name, text] of Object.entries(files)) expect(readFileSync(other.at(name), 'utf8')).toBe(text);
  await first.history.restore({ name: report.takenBackBy }, signal);
  expect(readFileSync(ground.at('more.txt'), 'utf8')).toBe('more\n');
});

test('ten thousand files and a path as deep as they come', async () => {
  const deep = Array.from({ length: 300 }, (_, n) => `d${n}`).join('/');
  const ground = prepareTree({ [`${deep}/bottom`]: 'deep\n' });
  for (let d = 0; d < 100; d++) {
    mkdirSync(ground.at(`many${d}`));
    for (let f = 0; f < 100; f++) writeFileSync(ground.at(`many${d}/f${f}`), `${d} ${f}\n`);
  }
  const { history } = await open(ground);
  expect(await history.snapshot({ name: 's', signal })).toMatchObject({ files: 10_001 });
  rmSync(ground.at('many7'), { recursive: true });
  rmSync(ground.at('d0'), { recursive: true });
  writeFileSync(ground.at('many8/f8'), 'other\n');
  expect(await history.snapshot({ name: 't', signal })).toMatchObject({ files: 9900 });
  const { report } = await history.restore({ name: 's' }, signal);
  expect(report).toMatchObject({ changed: ['many8/f8'], removed: [], refused: [] });
  expect(report.added).toHaveLength(101);
  expect(readFileSync(ground.at(`${deep}/bottom`), 'utf8')).toBe('deep\n');
  expect(readFileSync(ground.at('many7/f99'), 'utf8')).toBe('7 99\n');
  expect(await history.diff({ from: 's', signal })).toEqual([]);
}, 90_000);

test('a snapshot says what could not be read', async () => {
  const ground = prepareTree({ 'a.txt': 'a\n', 'closed.txt': 'c\n' });
  const { history } = await open(ground, {
    wrap: (tree) => ({
      ...tree,
      capture: async (options) => ({ ...(await tree.capture(options)), missed: ['closed.txt'] }),
    }),
  });
  expect(await history.snapshot({ name: 's', signal })).toMatchObject({ missed: ['closed.txt'] });
});

test('two texts that have nothing in common do not hold up a diff', async () => {
  const lines = (word: string) => Array.from({ length: 12_000 }, (_, n) => `${word} ${n}`).join('\n');
  const ground = prepareTree({ 'a.txt': lines('a'), 'b.txt': 'b\n', 'mode.sh': 'x\n' });
  const { history } = await open(ground);
  await history.snapshot({ name: 's', signal });
  writeFileSync(ground.at('a.txt'), lines('b'));
  writeFileSync(ground.at('b.txt'), 'c\n');
  chmodSync(ground.at('mode.sh'), 0o755);
  const [large, small, mode] = await history.diff({ from: 's', signal });
  expect(large).not.toHaveProperty('text');
  expect(small?.text).toBe('--- a/b.txt\n+++ b/b.txt\n@@ -1,1 +1,1 @@\n-b\n+c\n');
  expect(mode).toMatchObject({ before: { mode: 0o644 }, after: { mode: 0o755 } });
  expect(mode).not.toHaveProperty('text');
});
