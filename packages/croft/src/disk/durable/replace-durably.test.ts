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
import { makeDirectory } from '../../../test/support/harness.ts';
import { addon } from '../paths/native-addon.ts';
import { isInMemory } from './is-in-memory.ts';
import {
  type DurableReplacement,
  replaceDurably,
  replaceInSteps,
  replaceOnThread,
  replaceUnsynced,
  replaceWithoutSync,
} from './replace-durably.ts';

const given = addon;
if (!given) throw new Error('set-up has not compiled the file system addon');

describe.each([
  ['at once, where the order is kept', (replacement: DurableReplacement) => replaceOnThread(replacement, given, true)],
  ['at once, where it is not', (replacement: DurableReplacement) => replaceOnThread(replacement, given, false)],
  ['now', async (replacement: DurableReplacement) => void (await replaceWithoutSync(replacement, given, true))],
  ['in steps', replaceInSteps],
  ['unsynced', replaceUnsynced],
])('%s', (_, replace) => {
  let fixture: ReturnType<typeof makeDirectory>;
  let directory: number;
  let made = 0;

  beforeEach(() => {
    fixture = makeDirectory();
    directory = openSync(fixture.path, 'r');
    return () => {
      closeSync(directory);
      fixture[Symbol.dispose]();
    };
  });

  /** A temporary file that is to replace `name`. */
  async function put(name: string, text: string, before: Stats | undefined) {
    const from = { directoryFd: directory, name: `beside-${made++}` };
    const handle = openSync(fixture.at(from.name), 'wx');
    try {
      writeFileSync(handle, text);
      await replace({ handle, from, to: { directoryFd: directory, name }, before, path: name });
    } finally {
      closeSync(handle);
    }
  }

  const statOf = (name: string) => statSync(fixture.at(name), { throwIfNoEntry: false });
  const read = (name: string) => readFileSync(fixture.at(name), 'utf8');

  test('creates a file and replaces it, and leaves no other name', async () => {
    await put('größe.txt', 'one', undefined);
    expect(read('größe.txt')).toBe('one');
    await put('größe.txt', 'two', statOf('größe.txt'));
    expect(read('größe.txt')).toBe('two');
    expect(readdirSync(fixture.path)).toEqual(['größe.txt']);
  });

  test('a modification time with a fraction of a millisecond is recognised', async () => {
    for (let i = 0; i < 50; i++) await put('a', `${i}`, statOf('a'));
    expect(read('a')).toBe('49');
  });

  test('a concurrent write by another process is not overwritten', async () => {
    writeFileSync(fixture.at('a'), 'old');
    const before = statSync(fixture.at('a'));
    const refused = expect.objectContaining({ code: 'E_STALE' });

    writeFileSync(fixture.at('a'), 'longer');
    utimesSync(fixture.at('a'), before.atime, before.mtime);
    await expect(put('a', 'mine', before)).rejects.toEqual(refused);

    writeFileSync(fixture.at('a'), 'new');
    await expect(put('a', 'mine', before)).rejects.toEqual(refused);

    writeFileSync(fixture.at('b'), 'old');
    renameSync(fixture.at('b'), fixture.at('a'));
    await expect(put('a', 'mine', before)).rejects.toEqual(refused);
    expect(read('a')).toBe('old');
  });

  test('a file that appeared or disappeared meanwhile is noticed', async () => {
    writeFileSync(fixture.at('a'), 'old');
    const before = statSync(fixture.at('a'));
    renameSync(fixture.at('a'), fixture.at('b'));
    await expect(put('a', 'mine', before)).rejects.toMatchObject({ code: 'E_STALE' });
    const handle = openSync(fixture.at('beside'), 'wx');
    const from = { directoryFd: directory, name: 'beside' };
    const replacement = { handle, from, to: { directoryFd: directory, name: 'b' }, before: undefined, path: 'b' };
    await expect(replace(replacement)).rejects.toMatchObject({ code: 'E_STALE' });
    closeSync(handle);
    expect(read('b')).toBe('old');
  });

  test('of many concurrent creations of one file, one succeeds', async () => {
    const all = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => put('a', `${i}`, undefined)));
    const done = all.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${i}`] : []));
    expect(done).toEqual([read('a')]);
    const codes = all.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
    expect(new Set(codes).isSubsetOf(new Set(['E_STALE', 'E_ALREADY_EXISTS']))).toBe(true);
  });

  test('an error of the kernel keeps its name', async () => {
    const handle = openSync(fixture.at('other'), 'wx');
    const from = { directoryFd: directory, name: 'not-there' };
    const replacement = { handle, from, to: { directoryFd: directory, name: 'a' }, before: undefined, path: 'a' };
    await expect(replace(replacement)).rejects.toMatchObject({ code: 'ENOENT' });
    closeSync(handle);
  });
});

test('a file system in memory needs no sync', async () => {
  using fixture = makeDirectory({}, '/dev/shm');
  const directory = openSync(fixture.path, 'r');
  const handle = openSync(fixture.at('beside'), 'wx');
  expect(isInMemory(handle)).toBe(true);
  const from = { directoryFd: directory, name: 'beside' };
  const replaced = replaceDurably(
    { handle, from, to: { directoryFd: directory, name: 'a' }, before: undefined, path: 'a' },
    'strict',
  );
  expect(readdirSync(fixture.path)).toEqual(['a']);
  await replaced;
  for (const open of [directory, handle]) closeSync(open);
});

test('a replacement that needs a sync is left to the slow way', async () => {
  // Not the file system of the tests' directory, which may be in memory.
  const file = openSync('/proc/self/status', 'r');
  const target = { directoryFd: file, name: 'a' };
  const replacement = { handle: file, from: target, to: target, before: undefined, path: 'a' };
  expect(await replaceWithoutSync(replacement, given, false)).toBe(false);
  closeSync(file);
});

test.each(['/proc', '/sys'])('%s does not count as memory', (path) => {
  const handle = openSync(path, 'r');
  expect(isInMemory(handle)).toBe(false);
  closeSync(handle);
});

test.each(['replaceDurably', 'replaceAtOnce'] as const)('%s refuses arguments of the wrong type', (name) => {
  const call = given[name] as unknown as (...args: unknown[]) => unknown;
  const names = ['', 'a'.repeat(256), '面'.repeat(86), 'a\0b'];
  const wrong = [[], ['1', 2, 'a', 3, 'b', true], ...names.map((name) => [1, 2, name, 3, 'b', true])];
  for (const args of [...wrong, [1, 2, 'a', 3, 'b', 'yes'], [1, 2, 'a', 3, 'b', true, 1, 2, 'x']])
    expect(() => call(...args)).toThrow(TypeError);
});
