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
      await using ground = await prepare();
      const written = await ground.files.write('a.bin', bytes);
      const content = await ground.files.read('a.bin');
      expect(content.bytes.equals(bytes)).toBe(true);
      expect(content).toMatchObject({ path: 'a.bin', kind: 'file', size: bytes.length, version: written.version });
      expect(readFileSync(ground.at('a.bin')).equals(bytes)).toBe(true);
    });

    test('gives a file in pieces that make the whole', async () => {
      await using ground = await prepare();
      const bytes = Buffer.alloc(3 * 1024 * 1024 + 17, everyByte);
      await ground.files.write('big.bin', bytes);
      await using file = await ground.files.open('big.bin');
      expect(file.stat).toMatchObject({ path: 'big.bin', kind: 'file', size: bytes.length });
      expect(Buffer.concat(await Array.fromAsync(file.chunks())).equals(bytes)).toBe(true);
    });

    test('reads nothing of a file over the limit and all of one at it', async () => {
      await using ground = await prepare();
      await ground.files.write('ten', bytesOf('0123456789'));
      await expectFailure(ground.files.read('ten', { maxBytes: 9 }), 'E_TOO_LARGE');
      expect((await ground.files.read('ten', { maxBytes: 10 })).size).toBe(10);
    });

    test('makes the directories on the way to a new file', async () => {
      await using ground = await prepare();
      const { path } = await ground.files.write('a/b/c/d.txt', bytesOf('deep'));
      expect(path).toBe('a/b/c/d.txt');
      expect(await readText(ground.files, 'a/b/c/d.txt')).toBe('deep');
    });

    test('tells what is there and where', async () => {
      await using ground = await prepare();
      writeFileSync(ground.at('a.txt'), 'hello');
      mkdirSync(ground.at('dir'));
      expect(await ground.files.stat('a.txt')).toMatchObject({ path: 'a.txt', kind: 'file', size: 5 });
      expect(await ground.files.stat('./dir/')).toMatchObject({ path: 'dir', kind: 'directory' });
      expect(await ground.files.stat('')).toMatchObject({ path: '', kind: 'directory' });
      expect(await ground.files.stat(ground.directory)).toMatchObject({ path: '', kind: 'directory' });
    });
  });

  describe('versions', () => {
    test('change with the content and only with it', async () => {
      await using ground = await prepare();
      const first = await ground.files.write('a.txt', bytesOf('one'));
      const second = await ground.files.write('a.txt', bytesOf('two'));
      expect(second.version).not.toBe(first.version);
      utimesSync(ground.at('a.txt'), 1, 1);
      chmodSync(ground.at('a.txt'), 0o600);
      expect((await ground.files.version('a.txt'))?.version).toBe(second.version);
      writeFileSync(ground.at('a.txt'), 'one');
      expect((await ground.files.read('a.txt')).version).toBe(first.version);
    });

    test.each(['absent.txt', 'absent/below.txt'])('there is none of %s', async (path) => {
      await using ground = await prepare();
      expect(await ground.files.version(path)).toBeUndefined();
    });
  });

  describe('a write with a condition', () => {
    test('makes a file that must be new, and replaces none', async () => {
      await using ground = await prepare();
      await ground.files.write('a.txt', bytesOf('first'), { expect: 'absent' });
      await expectFailure(ground.files.write('a.txt', bytesOf('second'), { expect: 'absent' }), 'E_ALREADY_EXISTS');
      expect(await readText(ground.files, 'a.txt')).toBe('first');
    });

    test('replaces the version it expects, and no other', async () => {
      await using ground = await prepare();
      const first = await ground.files.write('a.txt', bytesOf('first'));
      await ground.files.write('a.txt', bytesOf('second'), { expect: first });
      await expectFailure(ground.files.write('a.txt', bytesOf('third'), { expect: first }), 'E_STALE');
      expect(await readText(ground.files, 'a.txt')).toBe('second');
    });

    test('sees what another process wrote, of the same length and at the same time', async () => {
      await using ground = await prepare();
      const seen = await ground.files.write('a.txt', bytesOf('mine'));
      const { atime, mtime } = statSync(ground.at('a.txt'));
      writeFileSync(ground.at('a.txt'), 'hers');
      utimesSync(ground.at('a.txt'), atime, mtime);
      await expectFailure(ground.files.write('a.txt', bytesOf('more'), { expect: seen }), 'E_STALE');
      expect(await readText(ground.files, 'a.txt')).toBe('hers');
    });

    test('does not bring back a file that has gone', async () => {
      await using ground = await prepare();
      await expectFailure(ground.files.write('gone.txt', bytesOf('x'), { expect: { version: 'any' } }), 'E_STALE');
      expect(await ground.files.version('gone.txt')).toBeUndefined();
    });
  });

  describe('modes', () => {
    test.each(octal(0o755, 0o600, 0o444, 0o640, 0o777))('a file keeps mode %s when it is replaced', async (_, mode) => {
      await using ground = await prepare();
      writeFileSync(ground.at('a.sh'), 'old');
      chmodSync(ground.at('a.sh'), mode);
      await ground.files.write('a.sh', bytesOf('new'));
      expect(statSync(ground.at('a.sh')).mode & 0o7777).toBe(mode);
    });

    test.each(octal(0o4755, 0o2755, 0o6711, 0o1644))('no special bit of mode %s passes on', async (_, mode) => {
      await using ground = await prepare();
      writeFileSync(ground.at('a.sh'), 'old');
      chmodSync(ground.at('a.sh'), mode);
      await ground.files.write('a.sh', bytesOf('new'));
      expect(statSync(ground.at('a.sh')).mode & 0o7777).toBe(mode & 0o777);
    });

    test.each([
      ...octal(0o755, 0o600, 0o444, 0o640, 0o777, 0o200).map((row) => [...row, true] as const),
      ...octal(0o755, 0o600, 0o711, 0o4755).map((row) => [...row, false] as const),
    ])('a file of mode %s can be run when that is said, by whoever may read it, or by nobody', async (_, mode, can) => {
      await using ground = await prepare();
      writeFileSync(ground.at('a.sh'), 'old');
      chmodSync(ground.at('a.sh'), mode);
      await ground.files.write('a.sh', bytesOf('new'), { isExecutable: can });
      const bits = can ? ((mode & 0o444) >> 2) | 0o100 : 0;
      const kept = mode & (can ? 0o777 : 0o666);
      expect(statSync(ground.at('a.sh')).mode & 0o7777).toBe(kept | bits);
      await ground.files.write('a.sh', bytesOf('newer'));
      expect(statSync(ground.at('a.sh')).mode & 0o7777, 'kept when nothing is said').toBe(kept | bits);
    });

    test('a new file can be run if that is said, as far as the umask leaves it', async () => {
      await using ground = await prepare();
      await ground.files.write('bin/a.sh', bytesOf('new'), { isExecutable: true, expect: 'absent' });
      await ground.files.write('bin/b.sh', bytesOf('new'), { isExecutable: false });
      const { entries } = await ground.files.list('bin', { limit: 10 });
      expect(entries.map(({ mode }) => mode)).toEqual([0o777 & ~process.umask(), 0o666 & ~process.umask()]);
    });

    test('new files and directories get what the umask leaves', async () => {
      await using ground = await prepare();
      await ground.files.write('dir/a.txt', bytesOf('new'));
      expect(statSync(ground.at('dir/a.txt')).mode & 0o7777).toBe(0o666 & ~process.umask());
      expect(statSync(ground.at('dir')).mode & 0o7777).toBe(0o777 & ~process.umask());
    });
  });

  describe('listings', () => {
    test('are sorted and say what each entry is', async () => {
      await using ground = await prepare();
      for (const name of ['b', 'a', 'B', '.c', 'ü']) writeFileSync(ground.at(name), name);
      mkdirSync(ground.at('dir'));
      symlinkSync('/nowhere/at/all', ground.at('link'));
      const { path, entries, cut } = await ground.files.list('', { limit: 100 });
      expect({ path, cut }).toEqual({ path: '', cut: false });
      expect(entries.map(({ name }) => name)).toEqual(['.c', 'B', 'a', 'b', 'dir', 'link', 'ü']);
      expect(entries).toContainEqual(expect.objectContaining({ name: 'ü', kind: 'file', size: 2 }));
      expect(entries).toContainEqual(expect.objectContaining({ name: 'dir', kind: 'directory' }));
      expect(entries).toContainEqual(expect.objectContaining({ kind: 'link', target: '/nowhere/at/all' }));
    });

    test('are cut at the limit and say so', async () => {
      await using ground = await prepare();
      for (let index = 0; index < 12; index += 1) writeFileSync(ground.at(`f${index}`), '');
      expect(await ground.files.list('', { limit: 12 })).toMatchObject({ cut: false, entries: { length: 12 } });
      expect(await ground.files.list('', { limit: 11 })).toMatchObject({ cut: true, entries: { length: 11 } });
      expect(await ground.files.list('', { limit: 1 })).toMatchObject({ cut: true, entries: { length: 1 } });
    });

    test('do not hide an entry whose name is not UTF-8', async () => {
      await using ground = await prepare();
      mkdirSync(ground.at('dir'));
      writeFileSync(Buffer.concat([bytesOf(ground.at('dir/')), Buffer.from([0xff, 0xfe])]), 'x');
      expect((await ground.files.list('dir', { limit: 10 })).entries).toHaveLength(1);
    });
  });

  test('times of change come in the order asked, without following a link, and 0 for what is not there', async () => {
    await using ground = await prepare();
    writeFileSync(ground.at('a'), '');
    mkdirSync(ground.at('dir'));
    writeFileSync(ground.at('dir/b'), '');
    utimesSync(ground.at('a'), 1000, 1000);
    utimesSync(ground.at('dir/b'), 2000, 2000);
    symlinkSync(ground.outside, ground.at('out'));
    symlinkSync('a', ground.at('link'));
    const asked = ['dir/b', 'gone', 'a', 'dir/b', 'out/secret.txt', '../x', 'a/below', 'nul\0'];
    expect(await ground.files.modifiedTimes(asked)).toEqual([2_000_000, 0, 1_000_000, 2_000_000, 0, 0, 0, 0]);
    expect((await ground.files.modifiedTimes(['link']))[0]).toBeGreaterThan(2_000_000);
  });
}

function octal(...modes: number[]): [string, number][] {
  return modes.map((mode) => [mode.toString(8), mode]);
}
