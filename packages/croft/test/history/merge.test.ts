import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mergeText } from '../../src/core/history/forks/merge-text.ts';
import type { OnConflict } from '../../src/core/history/ports/forks.ts';
import { openForksFixture, signal, text } from './forks-fixture.ts';

/** A workspace and a fork of it, to be changed apart. */
async function apart(tree: Record<string, string | Buffer>) {
  const fixture = openForksFixture(tree);
  await fixture.fork('fork');
  const path = fixture.server.pathOf('fork');
  const merge = (onConflict: OnConflict = 'refuse') =>
    fixture.server.of('main').merge({ fork: 'fork', onConflict, signal });
  return { ...fixture, there: (name: string) => join(path, name), here: fixture.workspace.at, merge };
}

const lines = (...changed: [number, string][]) =>
  Array.from({ length: 20 }, (_, index) => new Map(changed).get(index) ?? `line ${index}`).join('\n');

describe('merging a fork', () => {
  test('disjoint changes are both there', async () => {
    const { here, there, merge } = await apart({ a: 'a', b: 'b', 'd/c': 'c', 'd/e': 'e' });
    writeFileSync(here('a'), 'here');
    writeFileSync(there('b'), 'there');
    rmSync(there('d/c'));
    writeFileSync(there('new'), 'new');
    chmodSync(there('d/e'), 0o755);
    symlinkSync('/etc/passwd', there('link'));
    const { report, conflicts } = await merge();
    expect(conflicts).toEqual([]);
    expect(report).toMatchObject({ added: ['link', 'new'], changed: ['b', 'd/e'], removed: ['d/c'] });
    expect([text(here('a')), text(here('b'))]).toEqual(['here', 'there']);
    expect(existsSync(here('d/c'))).toBe(false);
    expect(statSync(here('d/e')).mode & 0o777).toBe(0o755);
  });

  test('the same change on both sides is one, and a second merge has nothing to do', async () => {
    const { here, there, merge } = await apart({ a: 'a', gone: 'g' });
    for (const at of [here, there]) {
      writeFileSync(at('a'), 'same');
      rmSync(at('gone'));
      writeFileSync(at('new'), 'same too');
    }
    writeFileSync(there('b'), 'b');
    expect((await merge()).report).toMatchObject({ added: ['b'], changed: [], removed: [] });
    expect((await merge()).report).toMatchObject({ added: [], changed: [], removed: [] });
    writeFileSync(here('b'), 'changed here since');
    writeFileSync(there('c'), 'c');
    expect((await merge()).report).toMatchObject({ added: ['c'], changed: [], removed: [] });
    expect(text(here('b'))).toBe('changed here since');
  });

  test('conflicts are refused, each of them named, and nothing changes', async () => {
    const { workspace, here, there, merge } = await apart({ both: 'o', mine: 'o', theirs: 'o', fine: 'o', 'k/x': 'o' });
    writeFileSync(here('both'), 'here');
    writeFileSync(there('both'), 'there');
    writeFileSync(here('mine'), 'here');
    rmSync(there('mine'));
    rmSync(here('theirs'));
    writeFileSync(there('theirs'), 'there');
    writeFileSync(there('fine'), 'there');
    rmSync(here('k'), { recursive: true });
    writeFileSync(here('k'), 'a file here');
    writeFileSync(there('k/y'), 'below it there');
    const before = readdirSync(workspace.path).sort();
    await expect(merge()).rejects.toMatchObject({
      code: 'E_CONFLICT',
      details: {
        conflicts: [
          { path: 'both', reason: 'both changed' },
          { path: 'k/y', reason: 'kinds differ' },
          { path: 'mine', reason: 'changed here, removed there' },
          { path: 'theirs', reason: 'removed here, changed there' },
        ],
      },
    });
    expect(readdirSync(workspace.path).sort()).toEqual(before);
    expect([text(here('both')), text(here('fine')), text(here('mine'))]).toEqual(['here', 'o', 'here']);
  });

  test('changes of separate lines are merged, overlapping ones are not', async () => {
    const { here, there, merge } = await apart({ f: lines() });
    writeFileSync(here('f'), lines([2, 'here']));
    writeFileSync(there('f'), lines([15, 'there']));
    const { merged, report } = await merge();
    expect(merged).toEqual(['f']);
    expect(report.changed).toEqual(['f']);
    expect(text(here('f'))).toBe(lines([2, 'here'], [15, 'there']));
    writeFileSync(here('f'), lines([2, 'again']));
    writeFileSync(there('f'), lines([2, 'otherwise']));
    await expect(merge()).rejects.toMatchObject({ code: 'E_CONFLICT' });
    expect(text(here('f'))).toBe(lines([2, 'again']));
  });

  test('the caller decides which side wins, or gets both between markers', async () => {
    for (const [onConflict, expected] of [
      ['ours', 'here\n'],
      ['theirs', 'there\n'],
      ['markers', '<<<<<<< workspace\nhere\n=======\nthere\n>>>>>>> fork\n'],
    ] as const) {
      const { here, there, merge } = await apart({ f: 'o\n', other: 'o' });
      writeFileSync(here('f'), 'here\n');
      writeFileSync(there('f'), 'there\n');
      writeFileSync(there('other'), 'there');
      const { conflicts } = await merge(onConflict);
      expect(conflicts).toEqual([{ path: 'f', reason: 'both changed' }]);
      expect(text(here('f'))).toBe(expected);
      expect(text(here('other'))).toBe('there');
    }
  });

  test('binary files get no markers', async () => {
    const binary = (byte: number) => Buffer.from([0, 1, 2, byte]);
    const { here, there, merge } = await apart({ f: binary(0) });
    writeFileSync(here('f'), binary(1));
    writeFileSync(there('f'), binary(2));
    await expect(merge('markers')).rejects.toMatchObject({ code: 'E_CONFLICT' });
    await merge('theirs');
    expect(text(here('f'))).toBe(binary(2).toString());
  });

  test('a directory is never replaced by a file', async () => {
    const { here, there, merge } = await apart({ x: 'o' });
    mkdirSync(here('d'));
    writeFileSync(here('d/precious'), 'p');
    writeFileSync(there('d'), 'a file');
    for (const wanted of ['refuse', 'theirs', 'markers'] as const)
      await expect(merge(wanted)).rejects.toMatchObject({ code: 'E_CONFLICT' });
    await merge('ours');
    expect(text(here('d/precious'))).toBe('p');
  });

  test('ignored files and .git are not merged', async () => {
    const { here, there, merge } = await apart({ '.gitignore': 'built/\n', 'built/x': 'old', '.git/HEAD': 'ref: a' });
    writeFileSync(there('built/x'), 'new');
    writeFileSync(there('.git/HEAD'), 'ref: b');
    writeFileSync(there('source'), 's');
    expect((await merge()).report).toMatchObject({ added: ['source'], changed: [] });
    expect([text(here('built/x')), text(here('.git/HEAD'))]).toEqual(['old', 'ref: a']);
  });

  test('a fork of a snapshot merges only its own changes', async () => {
    const { workspace, server, fork } = openForksFixture({ a: 'old', b: 'b' });
    await server.historyOf('main').snapshot({ name: 'then', signal });
    writeFileSync(workspace.at('a'), 'new');
    await fork('back', 'then');
    writeFileSync(join(server.pathOf('back'), 'c'), 'c');
    const { report } = await server.of('main').merge({ fork: 'back', onConflict: 'refuse', signal });
    expect(report).toMatchObject({ added: ['c'], changed: [], removed: [] });
    expect(text(workspace.at('a'))).toBe('new');
  });
});

/** Numbers that are the same in every run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state;
  }
}

test('for any changes: those of one side are applied, and different changes of both refuse everything', async () => {
  for (const seed of [1, 2, 3]) {
    const random = numbers(seed);
    const next = (below: number) => (random.next().value as number) % below;
    const names = Array.from({ length: 12 }, (_, index) => `${index % 3 === 0 ? 'd/' : ''}f${index}`);
    const { here, there, merge } = await apart(Object.fromEntries(names.map((name) => [name, `old ${name}\n`])));
    const [mine, yours] = [new Map<string, string | undefined>(), new Map<string, string | undefined>()];
    for (const [at, done] of [
      [here, mine],
      [there, yours],
    ] as const) {
      for (let count = 0; count < 4; count += 1) {
        const name = names[next(names.length)] ?? '';
        const content = next(3) === 0 ? undefined : `new ${next(2)}\n`;
        done.set(name, content);
        if (content === undefined) rmSync(at(name), { force: true });
        else writeFileSync(at(name), content);
      }
    }
    const clashes = [...yours].filter(([name, content]) => mine.has(name) && mine.get(name) !== content);
    const read = (name: string) => (existsSync(here(name)) ? text(here(name)) : undefined);
    const before = new Map(names.map((name) => [name, read(name)]));
    const result = await merge().catch((thrown) => thrown);
    if (clashes.length > 0) expect(result).toMatchObject({ code: 'E_CONFLICT' });
    for (const name of names)
      expect(read(name)).toBe(clashes.length === 0 && yours.has(name) ? yours.get(name) : before.get(name));
  }
});

test('line ends, the last line and empty texts are kept', () => {
  const both = (base: string, ours: string, theirs: string) => mergeText({ base, ours, theirs }, 'fork')?.text;
  expect(both('a\r\nb\r\n\r\nc', 'x\r\nb\r\n\r\nc', 'a\r\nb\r\n\r\ny')).toBe('x\r\nb\r\n\r\ny');
  expect(both('', 'same', 'same')).toBe('same');
  expect(both('a\n', '', 'a\n')).toBe('');
  expect(mergeText({ base: '', ours: 'a\n'.repeat(20_000), theirs: 'b\n' }, 'fork')).toBeUndefined();
});

test('thousands of equal lines are merged without blocking others', () => {
  const alike = (...changed: [number, string][]) =>
    Array.from({ length: 9000 }, (_, index) => `${new Map(changed).get(index) ?? 'ab'[index % 2]}\n`).join('');
  const three = { base: alike(), ours: alike([10, '7']), theirs: alike([8000, '+3']) };
  const expected = { text: alike([10, '7'], [8000, '+3']), hasConflicts: false };
  expect(mergeText(three, 'fork')).toEqual(expected);
});
