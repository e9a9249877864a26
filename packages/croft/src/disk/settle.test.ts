import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  type Stats,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeDirectory } from '../../test/harness.ts';
import { addon } from './addon.ts';
import { isInMemory } from './in-memory.ts';
import { type Settling, settle, settleAtOnce, settleInSteps, settleNow, settleUnsynced } from './settle.ts';

const given = addon;
if (!given) throw new Error('set-up has not compiled the file system addon');

describe.each([
  ['at once, where the order is kept', (settling: Settling) => settleAtOnce(settling, given, true)],
  ['at once, where it is not', (settling: Settling) => settleAtOnce(settling, given, false)],
  ['now', async (settling: Settling) => void settleNow(settling, given, true)],
  ['in steps', settleInSteps],
  ['unsynced', settleUnsynced],
])('%s', (_, settle) => {
  let ground: ReturnType<typeof makeDirectory>;
  let directory: number;
  let made = 0;

  beforeEach(() => {
    ground = makeDirectory();
    directory = openSync(ground.path, 'r');
    return () => {
      closeSync(directory);
      ground[Symbol.dispose]();
    };
  });

  /** A file beside, to be put where `name` is. */
  async function put(name: string, text: string, before: Stats | undefined) {
    const from = { directory, name: `beside-${made++}` };
    const handle = openSync(ground.at(from.name), 'wx');
    try {
      writeFileSync(handle, text);
      await settle({ handle, from, to: { directory, name }, before, path: name });
    } finally {
      closeSync(handle);
    }
  }

  const look = (name: string) => statSync(ground.at(name), { throwIfNoEntry: false });
  const read = (name: string) => readFileSync(ground.at(name), 'utf8');

  test('makes a file and replaces it, and leaves no other name', async () => {
    await put('größe.txt', 'one', undefined);
    expect(read('größe.txt')).toBe('one');
    await put('größe.txt', 'two', look('größe.txt'));
    expect(read('größe.txt')).toBe('two');
    expect(readdirSync(ground.path)).toEqual(['größe.txt']);
  });

  test('a file whose time has no whole milliseconds is still known', async () => {
    for (let i = 0; i < 50; i++) await put('a', `${i}`, look('a'));
    expect(read('a')).toBe('49');
  });

  test('what others wrote meanwhile is not lost', async () => {
    writeFileSync(ground.at('a'), 'old');
    const before = statSync(ground.at('a'));
    const refused = expect.objectContaining({ code: 'E_STALE' });

    writeFileSync(ground.at('a'), 'longer');
    utimesSync(ground.at('a'), before.atime, before.mtime);
    await expect(put('a', 'mine', before)).rejects.toEqual(refused);

    writeFileSync(ground.at('a'), 'new');
    await expect(put('a', 'mine', before)).rejects.toEqual(refused);

    writeFileSync(ground.at('b'), 'old');
    renameSync(ground.at('b'), ground.at('a'));
    await expect(put('a', 'mine', before)).rejects.toEqual(refused);
    expect(read('a')).toBe('old');
  });

  test('what has come or gone meanwhile is noticed', async () => {
    writeFileSync(ground.at('a'), 'old');
    const before = statSync(ground.at('a'));
    renameSync(ground.at('a'), ground.at('b'));
    await expect(put('a', 'mine', before)).rejects.toMatchObject({ code: 'E_STALE' });
    const handle = openSync(ground.at('beside'), 'wx');
    const from = { directory, name: 'beside' };
    const settling = { handle, from, to: { directory, name: 'b' }, before: undefined, path: 'b' };
    await expect(settle(settling)).rejects.toMatchObject({ code: 'E_STALE' });
    closeSync(handle);
    expect(read('b')).toBe('old');
  });

  test('of many that make one file at once, one does', async () => {
    const all = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => put('a', `${i}`, undefined)));
    const done = all.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${i}`] : []));
    expect(done).toEqual([read('a')]);
    const codes = all.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
    expect(new Set(codes).isSubsetOf(new Set(['E_STALE', 'E_ALREADY_EXISTS']))).toBe(true);
  });

  test('what the kernel refuses is told by its name', async () => {
    const handle = openSync(ground.at('other'), 'wx');
    const from = { directory, name: 'not-there' };
    const settling = { handle, from, to: { directory, name: 'a' }, before: undefined, path: 'a' };
    await expect(settle(settling)).rejects.toMatchObject({ code: 'ENOENT' });
    closeSync(handle);
  });
});

test('where there is no disk, nothing is waited for', async () => {
  using ground = makeDirectory({}, '/dev/shm');
  const directory = openSync(ground.path, 'r');
  const handle = openSync(ground.at('beside'), 'wx');
  expect(isInMemory(handle)).toBe(true);
  const from = { directory, name: 'beside' };
  const settled = settle({ handle, from, to: { directory, name: 'a' }, before: undefined, path: 'a' }, 'strict');
  expect(readdirSync(ground.path)).toEqual(['a']);
  await settled;
  for (const open of [directory, handle]) closeSync(open);
});

test('where there is one, and it has to be waited for, nothing is done now', () => {
  // Not of the tests' directory, which may be in memory.
  const file = openSync('/proc/self/status', 'r');
  const place = { directory: file, name: 'a' };
  expect(settleNow({ handle: file, from: place, to: place, before: undefined, path: 'a' }, given, false)).toBe(false);
  closeSync(file);
});

test.each(['/proc', '/sys'])('%s is not taken for memory', (path) => {
  const handle = openSync(path, 'r');
  expect(isInMemory(handle)).toBe(false);
  closeSync(handle);
});

test.each(['settle', 'settleNow'] as const)('what %s does not take is refused', (name) => {
  const call = given[name] as unknown as (...args: unknown[]) => unknown;
  const names = ['', 'a'.repeat(256), '面'.repeat(86), 'a\0b'];
  const wrong = [[], ['1', 2, 'a', 3, 'b', true], ...names.map((name) => [1, 2, name, 3, 'b', true])];
  for (const args of [...wrong, [1, 2, 'a', 3, 'b', 'yes'], [1, 2, 'a', 3, 'b', true, 1, 2, 'x']])
    expect(() => call(...args)).toThrow(TypeError);
});
