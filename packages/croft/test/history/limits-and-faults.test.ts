import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { createHistory, type HistoryOptions } from '../../src/core/history/create-history.ts';
import { createCheckpointLog } from '../../src/core/history/logs/checkpoint-log.ts';
import type { HistoryStore } from '../../src/core/history/ports/history-store.ts';
import { emptyTreeHash } from '../../src/core/history/ports/tree.ts';
import type { WorkingTree } from '../../src/core/history/ports/working-tree.ts';
import { openSqliteStore } from '../../src/history/store/sqlite-store.ts';
import { makeDirectory } from '../support/harness.ts';
import { prepareTree, type TreeFixture } from './trees.ts';

const dayMs = 86_400_000;
const signal = new AbortController().signal;

interface Opened {
  readonly options?: Partial<HistoryOptions>;
  wrap?(tree: WorkingTree): WorkingTree;
}

async function open(fixture: TreeFixture, { options = {}, wrap = (tree) => tree }: Opened = {}) {
  const clock = { ms: Date.parse('2026-01-01T00:00:00Z') };
  const warnings: string[] = [];
  const tree = await fixture.open();
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
    history.record({ tool: 'write', session: 's', title: name }, async () => writeFileSync(fixture.at(name), text));
  return { tree, history, clock, warnings, write };
}

test('ignore rules that take too much work are applied in part, with one warning', async () => {
  const fixture = prepareTree({ '.gitignore': `${'*a*b*c*d'.repeat(10)}\n`.repeat(1000), 'a.txt': 'a' });
  const { write, warnings } = await open(fixture);
  for (const text of ['b', 'c']) await write('a.txt', text);
  expect(warnings).toEqual([
    '".gitignore" of a workspace has too many wildcards: the rules at its end are not obeyed; use fewer, or plain names',
  ]);
});

test('old checkpoints and automatic snapshots are deleted by age and number; named snapshots stay', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  const retention = { count: 3, everyCheckpoints: 1, collectEveryMs: 0 };
  const { history, clock, write, warnings, tree } = await open(fixture, { options: { retention } });
  const ids = async () => (await history.checkpoints(100)).map(({ id }) => id);
  const names = async () => (await history.snapshots()).map(({ name }) => name);
  await history.snapshot({ name: 'mine', signal });
  // Nothing that could be packed.
  for (let n = 0; n < 6; n++) await write('large.txt', randomBytes(150_000).toString('base64'));
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
  expect(readFileSync(fixture.at('a.txt'), 'utf8')).toBe('a\n');
  expect(warnings).toEqual([]);
});

test('a call that fails leaves a checkpoint, and its own failure', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  const { history } = await open(fixture);
  const work = async () => {
    rmSync(fixture.at('a.txt'));
    throw new RangeError('of the call');
  };
  await expect(history.record({ tool: 'bash', session: 's', title: 'x' }, work)).rejects.toThrow('of the call');
  expect(await history.checkpoints(10)).toMatchObject([{ call: { tool: 'bash' }, paths: 1 }]);
});

test('a failure of the history fails no call, and is reported', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  let isBroken = true;
  const { history, warnings, write } = await open(fixture, {
    wrap: (tree) => ({
      ...tree,
      capture: async (options) => (isBroken ? Promise.reject(new Error('no disk')) : tree.capture(options)),
    }),
  });
  await write('a.txt', 'b\n');
  expect(warnings.join()).toContain('no disk');
  expect(await history.captureSource()).toBeUndefined();
  await history.recordVerdict({ tool: 'run_tests', project: 'x', verdict: 'passed', at: '' }, 'x');
  const check = () => history.recordCheck({ tool: 'run_lint', session: 's', title: '' }, async () => 'done');
  expect(await check()).toEqual({ result: 'done', altered: [], unverified: 'unread' });
  isBroken = false;
  await write('a.txt', 'c\n');
  expect(await history.checkpoints(10)).toMatchObject([{ call: { title: 'a.txt' } }]);
  await history.undo({ count: 1 }, signal);
  expect(readFileSync(fixture.at('a.txt'), 'utf8')).toBe('b\n');
  expect(await check()).toEqual({ result: 'done', altered: [] });
  isBroken = true;
  expect(await check()).toEqual({ result: 'done', altered: [], unverified: 'unreadable' });
  isBroken = false;
});

test('a slow first capture delays one call for a limited time, and the next call not at all', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const read = Promise.withResolvers<void>();
  let captures = 0;
  const { history, write } = await open(fixture, {
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
  const checked = await history.recordCheck({ tool: 'run_lint', session: 's', title: '' }, async () => 'done');
  expect(checked).toEqual({ result: 'done', altered: [], unverified: 'unread' });
  expect(await history.checkpoints(10)).toEqual([]);
  await history.record({ tool: 'bash', session: 's', title: 'x' }, async () => {
    writeFileSync(fixture.at('b.txt'), 'unseen\n');
    read.resolve();
    // It is read by a long look, and then by a short one that no call comes between.
    await vi.waitFor(() => expect(captures).toBeGreaterThan(1));
    await history.checkpoints(1);
    writeFileSync(fixture.at('a.txt'), '3\n');
  });
  expect(await history.checkpoints(10)).toMatchObject([{ call: { tool: 'bash' }, isPartial: true, paths: 1 }]);
  await history.undo({ count: 1 }, signal);
  expect(readFileSync(fixture.at('a.txt'), 'utf8')).toBe('2\n');
  expect(readFileSync(fixture.at('b.txt'), 'utf8')).toBe('unseen\n');
});

test('a call inside another call is undone with it, or alone', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const { history, write } = await open(fixture);
  await history.record({ tool: 'bash', session: 's', title: 'outer' }, async () => {
    writeFileSync(fixture.at('a.txt'), '1\n');
    await write('b.txt', '1\n');
    writeFileSync(fixture.at('c.txt'), '1\n');
  });
  const [last, inner, first] = await history.checkpoints(10);
  expect([last, inner, first]).toMatchObject([
    { call: { title: 'outer' }, alongside: [{ title: 'b.txt' }] },
    { call: { title: 'b.txt' }, alongside: [{ title: 'outer' }] },
    { call: { title: 'outer' } },
  ]);
  const { undone } = await history.undo({ count: 1 }, signal);
  expect(undone.map(({ id }) => id)).toEqual([last?.id, first?.id]);
  const texts = () => ['a.txt', 'b.txt'].map((name) => readFileSync(fixture.at(name), 'utf8'));
  expect(texts()).toEqual(['a\n', '1\n']);
  await history.undo({ count: 1 }, signal);
  expect(texts()).toEqual(['a\n', 'b\n']);
});

test('two servers of one directory do not delete each other’s checkpoints', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n' });
  const [one, two] = [await open(fixture), await open(fixture)];
  await one.write('a.txt', '1\n');
  await two.write('a.txt', '2\n');
  await one.write('a.txt', '3\n');
  await two.history.undo({ count: 3 }, signal);
  expect(readFileSync(fixture.at('a.txt'), 'utf8')).toBe('a\n');
  expect(await one.history.checkpoints(10)).toMatchObject([{ id: 'cp_000004' }, {}, {}, { id: 'cp_000001' }]);
});

test('two servers that choose the same name for a checkpoint lose neither', async () => {
  const fixture = prepareTree();
  const trees = [await fixture.open(), await fixture.open()];
  for (const way of ['add', 'addAll'] as const) {
    let missing = trees.length;
    const { promise: bothHaveChosen, resolve } = Promise.withResolvers<void>();
    const call = { tool: 'write', title: '', session: 's' };
    const notes = trees.map(async ({ store }, lane) => {
      const keep: HistoryStore['put'] = async (contents, given) => {
        missing -= 1;
        if (missing === 0) resolve();
        await bothHaveChosen;
        await store.put(contents, given);
      };
      const log = createCheckpointLog({ ...store, put: keep });
      const note = { callId: `${way} ${lane}`, call, at: '', before: emptyTreeHash, after: emptyTreeHash, paths: 1 };
      await (way === 'add' ? log.add(note) : log.addAll([note, note], []));
    });
    await Promise.all(notes);
  }
  const [all = []] = await Promise.all(trees.map(({ store }) => createCheckpointLog(store).list()));
  expect(all.map(({ note }) => note.callId).sort()).toEqual([
    ...['add 0', 'add 1'],
    ...['addAll 0', 'addAll 0', 'addAll 1', 'addAll 1'],
  ]);
});

test('archived snapshots are complete: another server restores them from the archive alone', async () => {
  const files = { 'a.txt': 'a\n', 'deep/er/b.txt': 'b\n', 'deep/large': 'x'.repeat(3_000_000), 'same/c': 'c\n' };
  const fixture = prepareTree(files);
  using root = makeDirectory();
  const archive: HistoryStore = await openSqliteStore(root.at('archive.db'));
  await using _closing = archive;
  const first = await open(fixture, { options: { archive } });
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
  expect(readFileSync(fixture.at('more.txt'), 'utf8')).toBe('more\n');
});

test('captures ten thousand files and a path of the greatest depth', async () => {
  const deep = Array.from({ length: 300 }, (_, n) => `d${n}`).join('/');
  const fixture = prepareTree({ [`${deep}/bottom`]: 'deep\n' });
  for (let d = 0; d < 100; d++) {
    mkdirSync(fixture.at(`many${d}`));
    for (let f = 0; f < 100; f++) writeFileSync(fixture.at(`many${d}/f${f}`), `${d} ${f}\n`);
  }
  const { history } = await open(fixture);
  expect(await history.snapshot({ name: 's', signal })).toMatchObject({ files: 10_001 });
  rmSync(fixture.at('many7'), { recursive: true });
  rmSync(fixture.at('d0'), { recursive: true });
  writeFileSync(fixture.at('many8/f8'), 'other\n');
  expect(await history.snapshot({ name: 't', signal })).toMatchObject({ files: 9900 });
  const { report } = await history.restore({ name: 's' }, signal);
  expect(report).toMatchObject({ changed: ['many8/f8'], removed: [], refused: [] });
  expect(report.added).toHaveLength(101);
  expect(readFileSync(fixture.at(`${deep}/bottom`), 'utf8')).toBe('deep\n');
  expect(readFileSync(fixture.at('many7/f99'), 'utf8')).toBe('7 99\n');
  expect(await history.diff({ from: 's', signal })).toEqual([]);
}, 90_000);

test('a snapshot says what could not be read', async () => {
  const fixture = prepareTree({ 'a.txt': 'a\n', 'closed.txt': 'c\n' });
  const { history } = await open(fixture, {
    wrap: (tree) => ({
      ...tree,
      capture: async (options) => ({ ...(await tree.capture(options)), missed: ['closed.txt'] }),
    }),
  });
  expect(await history.snapshot({ name: 's', signal })).toMatchObject({ missed: ['closed.txt'] });
});

test('two texts with nothing in common do not delay a diff', async () => {
  const lines = (word: string) => Array.from({ length: 12_000 }, (_, n) => `${word} ${n}`).join('\n');
  const fixture = prepareTree({ 'a.txt': lines('a'), 'b.txt': 'b\n', 'mode.sh': 'x\n' });
  const { history } = await open(fixture);
  await history.snapshot({ name: 's', signal });
  writeFileSync(fixture.at('a.txt'), lines('b'));
  writeFileSync(fixture.at('b.txt'), 'c\n');
  chmodSync(fixture.at('mode.sh'), 0o755);
  const [large, small, mode] = await history.diff({ from: 's', signal });
  expect(large).not.toHaveProperty('text');
  expect(small?.text).toBe('--- a/b.txt\n+++ b/b.txt\n@@ -1,1 +1,1 @@\n-b\n+c\n');
  expect(mode).toMatchObject({ before: { mode: 0o644 }, after: { mode: 0o755 } });
  expect(mode).not.toHaveProperty('text');
});
