import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Prepare } from './files.ts';
import { bytesOf, expectFailure, readText } from './files-expect.ts';

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

export function describeContents(prepare: Prepare): void {
  describe('contents', () => {
    test.each([
      ['nothing', Buffer.alloc(0)],
      ['every byte there is', everyByte],
      ['text that is not UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x0d, 0x0a])],
      ['three mebibytes', Buffer.alloc(3 * 1024 * 1024, everyByte)],
    ])('reads back %s as it was written', async (_, bytes) => {
      await using fixture = await prepare();
      const written = await fixture.files.write('a.bin', bytes);
      const content = await fixture.files.read('a.bin');
      expect(content.bytes.equals(bytes)).toBe(true);
      expect(content).toMatchObject({ path: 'a.bin', kind: 'file', size: bytes.length, version: written.version });
      expect(readFileSync(fixture.at('a.bin')).equals(bytes)).toBe(true);
    });

    test('are read in pieces that join to the whole', async () => {
      await using fixture = await prepare();
      const bytes = Buffer.alloc(3 * 1024 * 1024 + 17, everyByte);
      await fixture.files.write('big.bin', bytes);
      await using file = await fixture.files.open('big.bin');
      expect(file.stat).toMatchObject({ path: 'big.bin', kind: 'file', size: bytes.length });
      expect(Buffer.concat(await Array.fromAsync(file.chunks())).equals(bytes)).toBe(true);
    });

    test('over the limit are not read, and at the limit are read completely', async () => {
      await using fixture = await prepare();
      await fixture.files.write('ten', bytesOf('0123456789'));
      await expectFailure(fixture.files.read('ten', { maxBytes: 9 }), 'E_TOO_LARGE');
      expect((await fixture.files.read('ten', { maxBytes: 10 })).size).toBe(10);
    });

    test('are written with the directories on their path', async () => {
      await using fixture = await prepare();
      const { path } = await fixture.files.write('a/b/c/d.txt', bytesOf('deep'));
      expect(path).toBe('a/b/c/d.txt');
      expect(await readText(fixture.files, 'a/b/c/d.txt')).toBe('deep');
    });

    test('are described with kind and path', async () => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.txt'), 'hello');
      mkdirSync(fixture.at('dir'));
      expect(await fixture.files.stat('a.txt')).toMatchObject({ path: 'a.txt', kind: 'file', size: 5 });
      expect(await fixture.files.stat('./dir/')).toMatchObject({ path: 'dir', kind: 'directory' });
      expect(await fixture.files.stat('')).toMatchObject({ path: '', kind: 'directory' });
      expect(await fixture.files.stat(fixture.directory)).toMatchObject({ path: '', kind: 'directory' });
    });
  });

  describe('versions', () => {
    test('change with the content, and only then', async () => {
      await using fixture = await prepare();
      const first = await fixture.files.write('a.txt', bytesOf('one'));
      const second = await fixture.files.write('a.txt', bytesOf('two'));
      expect(second.version).not.toBe(first.version);
      utimesSync(fixture.at('a.txt'), 1, 1);
      chmodSync(fixture.at('a.txt'), 0o600);
      expect((await fixture.files.version('a.txt'))?.version).toBe(second.version);
      writeFileSync(fixture.at('a.txt'), 'one');
      expect((await fixture.files.read('a.txt')).version).toBe(first.version);
    });

    test.each(['absent.txt', 'absent/below.txt'])('are undefined for %s', async (path) => {
      await using fixture = await prepare();
      expect(await fixture.files.version(path)).toBeUndefined();
    });
  });

  describe('a write with a condition', () => {
    test('creates a file that must be new, and replaces none', async () => {
      await using fixture = await prepare();
      await fixture.files.write('a.txt', bytesOf('first'), { expect: 'absent' });
      await expectFailure(fixture.files.write('a.txt', bytesOf('second'), { expect: 'absent' }), 'E_ALREADY_EXISTS');
      expect(await readText(fixture.files, 'a.txt')).toBe('first');
    });

    test('replaces the version it expects, and no other', async () => {
      await using fixture = await prepare();
      const first = await fixture.files.write('a.txt', bytesOf('first'));
      await fixture.files.write('a.txt', bytesOf('second'), { expect: first });
      await expectFailure(fixture.files.write('a.txt', bytesOf('third'), { expect: first }), 'E_STALE');
      expect(await readText(fixture.files, 'a.txt')).toBe('second');
    });

    test('notices a write of another process with the same length and time', async () => {
      await using fixture = await prepare();
      const seen = await fixture.files.write('a.txt', bytesOf('mine'));
      const { atime, mtime } = statSync(fixture.at('a.txt'));
      writeFileSync(fixture.at('a.txt'), 'hers');
      utimesSync(fixture.at('a.txt'), atime, mtime);
      await expectFailure(fixture.files.write('a.txt', bytesOf('more'), { expect: seen }), 'E_STALE');
      expect(await readText(fixture.files, 'a.txt')).toBe('hers');
    });

    test('does not create a file again that has been removed', async () => {
      await using fixture = await prepare();
      await expectFailure(fixture.files.write('gone.txt', bytesOf('x'), { expect: { version: 'any' } }), 'E_STALE');
      expect(await fixture.files.version('gone.txt')).toBeUndefined();
    });
  });

  describe('modes', () => {
    test.each(octal(0o755, 0o600, 0o444, 0o640, 0o777))('a file keeps mode %s when it is replaced', async (_, mode) => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.sh'), 'old');
      chmodSync(fixture.at('a.sh'), mode);
      await fixture.files.write('a.sh', bytesOf('new'));
      expect(statSync(fixture.at('a.sh')).mode & 0o7777).toBe(mode);
    });

    test.each(octal(0o4755, 0o2755, 0o6711, 0o1644))('no special bit of mode %s is kept', async (_, mode) => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.sh'), 'old');
      chmodSync(fixture.at('a.sh'), mode);
      await fixture.files.write('a.sh', bytesOf('new'));
      expect(statSync(fixture.at('a.sh')).mode & 0o7777).toBe(mode & 0o777);
    });

    test.each([
      ...octal(0o755, 0o600, 0o444, 0o640, 0o777, 0o200).map((row) => [...row, true] as const),
      ...octal(0o755, 0o600, 0o711, 0o4755).map((row) => [...row, false] as const),
    ])('a file of mode %s becomes executable when asked for, for those who may read it', async (_, mode, can) => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.sh'), 'old');
      chmodSync(fixture.at('a.sh'), mode);
      await fixture.files.write('a.sh', bytesOf('new'), { isExecutable: can });
      const bits = can ? ((mode & 0o444) >> 2) | 0o100 : 0;
      const kept = mode & (can ? 0o777 : 0o666);
      expect(statSync(fixture.at('a.sh')).mode & 0o7777).toBe(kept | bits);
      await fixture.files.write('a.sh', bytesOf('newer'));
      expect(statSync(fixture.at('a.sh')).mode & 0o7777, 'kept when nothing is said').toBe(kept | bits);
    });

    test('a new file becomes executable when asked for, within the umask', async () => {
      await using fixture = await prepare();
      await fixture.files.write('bin/a.sh', bytesOf('new'), { isExecutable: true, expect: 'absent' });
      await fixture.files.write('bin/b.sh', bytesOf('new'), { isExecutable: false });
      const { entries } = await fixture.files.list('bin', { limit: 10 });
      expect(entries.map(({ mode }) => mode)).toEqual([0o777 & ~process.umask(), 0o666 & ~process.umask()]);
    });

    test('new files and directories get the mode that the umask leaves', async () => {
      await using fixture = await prepare();
      await fixture.files.write('dir/a.txt', bytesOf('new'));
      expect(statSync(fixture.at('dir/a.txt')).mode & 0o7777).toBe(0o666 & ~process.umask());
      expect(statSync(fixture.at('dir')).mode & 0o7777).toBe(0o777 & ~process.umask());
    });
  });

  describe('listings', () => {
    test('are sorted and say what each entry is', async () => {
      await using fixture = await prepare();
      for (const name of ['b', 'a', 'B', '.c', 'ü']) writeFileSync(fixture.at(name), name);
      mkdirSync(fixture.at('dir'));
      symlinkSync('/nowhere/at/all', fixture.at('link'));
      const { path, entries, cut } = await fixture.files.list('', { limit: 100 });
      expect({ path, cut }).toEqual({ path: '', cut: false });
      expect(entries.map(({ name }) => name)).toEqual(['.c', 'B', 'a', 'b', 'dir', 'link', 'ü']);
      expect(entries).toContainEqual(expect.objectContaining({ name: 'ü', kind: 'file', size: 2 }));
      expect(entries).toContainEqual(expect.objectContaining({ name: 'dir', kind: 'directory' }));
      expect(entries).toContainEqual(expect.objectContaining({ kind: 'link', target: '/nowhere/at/all' }));
    });

    test('are cut at the limit and say so', async () => {
      await using fixture = await prepare();
      for (let index = 0; index < 12; index += 1) writeFileSync(fixture.at(`f${index}`), '');
      expect(await fixture.files.list('', { limit: 12 })).toMatchObject({ cut: false, entries: { length: 12 } });
      expect(await fixture.files.list('', { limit: 11 })).toMatchObject({ cut: true, entries: { length: 11 } });
      expect(await fixture.files.list('', { limit: 1 })).toMatchObject({ cut: true, entries: { length: 1 } });
    });

    test('do not hide an entry whose name is not UTF-8', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      writeFileSync(Buffer.concat([bytesOf(fixture.at('dir/')), Buffer.from([0xff, 0xfe])]), 'x');
      expect((await fixture.files.list('dir', { limit: 10 })).entries).toHaveLength(1);
    });
  });

  test('modification times come in the order asked, without following a link, and 0 for a missing file', async () => {
    await using fixture = await prepare();
    writeFileSync(fixture.at('a'), '');
    mkdirSync(fixture.at('dir'));
    writeFileSync(fixture.at('dir/b'), '');
    utimesSync(fixture.at('a'), 1000, 1000);
    utimesSync(fixture.at('dir/b'), 2000, 2000);
    symlinkSync(fixture.outside, fixture.at('out'));
    symlinkSync('a', fixture.at('link'));
    const asked = ['dir/b', 'gone', 'a', 'dir/b', 'out/secret.txt', '../x', 'a/below', 'nul\0'];
    expect(await fixture.files.modifiedTimes(asked)).toEqual([2_000_000, 0, 1_000_000, 2_000_000, 0, 0, 0, 0]);
    expect((await fixture.files.modifiedTimes(['link']))[0]).toBeGreaterThan(2_000_000);
  });
}

function octal(...modes: number[]): [string, number][] {
  return modes.map((mode) => [mode.toString(8), mode]);
}
