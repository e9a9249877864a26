import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FilesFixture, Prepare } from './files.ts';
import {
  bytesOf,
  changeOperations,
  expectFailure,
  operations,
  plainly,
  readOperations,
  readText,
  withAll,
} from './files-expect.ts';

const awkwardNames = [
  '..hidden',
  '...',
  '.. ',
  'two words',
  ' lead',
  'trail ',
  'line\nbreak',
  'tab\tbell\x07',
  'ünïcödé',
  '日本語',
  '😀',
  '\u202egpj.exe',
  '-rf',
  '--',
  '%2e%2e',
  '%2e%2e%2fsecret.txt',
  '..\\..\\secret.txt',
  '\uff0e\uff0e',
  '~',
  '$HOME',
  '*',
  'NUL',
  'x'.repeat(255),
  'é'.repeat(127),
];

const waysOut: readonly [string, (fixture: FilesFixture) => string][] = [
  ['the parent', () => '..'],
  ['a file beside the root', ({ outside }) => `../${basename(outside)}/secret.txt`],
  ['a climb after a descent', ({ outside }) => `dir/../../${basename(outside)}/secret.txt`],
  ['a climb through a directory that is not there', ({ outside }) => `no/../../${basename(outside)}/secret.txt`],
  ['an absolute path', ({ outside }) => `${outside}/secret.txt`],
  ['an absolute path of a new file', ({ outside }) => `${outside}/new.txt`],
  ['a path that begins as the root does', ({ outside }) => outside],
  ['an absolute path that climbs', ({ directory, outside }) => `${directory}/../${basename(outside)}/secret.txt`],
  ['doubled slashes', ({ outside }) => `//${outside}//secret.txt`],
  ['the root of the machine', () => '/'],
  ['another name of the root of the machine', ({ outside }) => `/proc/self/root${outside}/secret.txt`],
  ['an open file', () => '/proc/self/fd/0'],
  ['the directory of this process', () => '/proc/self/cwd/package.json'],
];

export function describePaths(prepare: Prepare): void {
  describe('names', () => {
    test.each(awkwardNames)('%j is an ordinary name', async (name) => {
      await using fixture = await prepare();
      await fixture.files.write(name, bytesOf('hello'));
      expect(readFileSync(fixture.at(name), 'utf8')).toBe('hello');
      expect(await readText(fixture.files, name)).toBe('hello');
      expect((await fixture.files.list('.', { limit: 10 })).entries.map((entry) => entry.name)).toEqual([name]);
      await fixture.files.rename(name, `dir/${name}`);
      expect(await fixture.files.stat(`dir/${name}`)).toMatchObject({ path: `dir/${name}`, size: 5 });
      await fixture.files.remove(`dir/${name}`, plainly);
      expect(await fixture.files.version(`dir/${name}`)).toBeUndefined();
    });

    test('are compared byte by byte, without regard to case or composition', async () => {
      await using fixture = await prepare();
      const names = ['a', 'A', 'é', 'e\u0301', 'ﬁ', 'fi', 'a ', 'a.'];
      for (const name of names) await fixture.files.write(name, bytesOf(name), { expect: 'absent' });
      for (const name of names) expect(await readText(fixture.files, name)).toBe(name);
    });

    test.each(operations)('%s refuses a NUL byte', async (_, operate) => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('own.txt'), 'own');
      await expectFailure(operate(fixture.files, 'own.txt\0'), 'E_INVALID_PATH');
      await expectFailure(operate(fixture.files, 'own.txt\0/../../x'), 'E_INVALID_PATH');
    });

    test.each(operations)('%s refuses a name or a path that is too long', async (_, operate) => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('own.txt'), 'own');
      for (const path of ['x'.repeat(256), 'é'.repeat(128), `a/${'x'.repeat(256)}/b`, 'd/'.repeat(2100)])
        await expectFailure(operate(fixture.files, path), 'E_NAME_TOO_LONG');
      expect(existsSync(fixture.at('a'))).toBe(false);
    });

    test.each([
      ['nine hundred directories', 'd', 900],
      ['more bytes than the kernel takes at once', 'übergrößenträger', 220],
    ])('a path of %s works', async (_, name, depth) => {
      await using fixture = await prepare();
      const path = `${`${name}/`.repeat(depth)}file`;
      await fixture.files.write(path, bytesOf('deep'));
      expect(await readText(fixture.files, path)).toBe('deep');
      expect(await fixture.files.remove(name, withAll)).toMatchObject({ removed: depth + 1 });
    });
  });

  describe('spellings of a path', () => {
    test.each<[string, (fixture: FilesFixture) => string]>([
      ['dots and doubled slashes', () => './/dir/.//a.txt'],
      ['a descent and a climb', () => 'dir/no/../a.txt'],
      ['a climb through what is a file', () => 'own.txt/../dir/a.txt'],
      ['the absolute path', ({ directory }) => `${directory}/dir/a.txt`],
      ['the absolute path with detours', ({ directory }) => `/${directory}/./x/../dir//a.txt`],
      [
        'an absolute path that leaves and returns',
        ({ directory }) => `${directory}/../${basename(directory)}/dir/a.txt`,
      ],
    ])('%s', async (_, spell) => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      writeFileSync(fixture.at('dir/a.txt'), 'hello');
      expect(await fixture.files.read(spell(fixture))).toMatchObject({ path: 'dir/a.txt', size: 5 });
    });
  });

  describe('a path that leaves the root', () => {
    test.each(waysOut)('is refused to every caller: %s', async (_, spell) => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      writeFileSync(fixture.at('own.txt'), 'own');
      const path = spell(fixture);
      for (const [, operate] of operations) await expectFailure(operate(fixture.files, path), 'E_SANDBOX_VIOLATION');
      expect((await fixture.files.list('', { limit: 10 })).entries.map(({ name }) => name)).toEqual(['dir', 'own.txt']);
    });
  });

  describe('a path that leads to the wrong kind of thing', () => {
    test.each(operations)('%s below a file finds nothing', async (_, operate) => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.txt'), 'a');
      writeFileSync(fixture.at('own.txt'), 'own');
      for (const path of ['a.txt/child', 'a.txt/child/grandchild', `${fixture.at('a.txt')}/child`])
        await expectFailure(operate(fixture.files, path), 'E_NOT_A_DIRECTORY');
      expect(readFileSync(fixture.at('a.txt'), 'utf8')).toBe('a');
    });

    test.each(readOperations.filter(([name]) => name !== 'version'))(
      '%s of a missing path finds nothing',
      async (_, operate) => {
        await using fixture = await prepare();
        for (const path of ['absent', 'absent/below', 'absent/far/below'])
          await expectFailure(operate(fixture.files, path), 'E_FILE_NOT_FOUND');
        expect(existsSync(fixture.at('absent'))).toBe(false);
      },
    );

    test.each(['dir', 'dir/', '.', '', './dir/../'])('%j is a directory, and never a file', async (path) => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      const { files } = fixture;
      for (const work of [files.read(path), files.open(path), files.version(path), files.write(path, bytesOf('x'))])
        await expectFailure(work, 'E_NOT_A_FILE');
      expect(await files.stat(path)).toMatchObject({ kind: 'directory' });
    });

    test('a file is not listed', async () => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.txt'), 'a');
      await expectFailure(fixture.files.list('a.txt', { limit: 10 }), 'E_NOT_A_DIRECTORY');
    });
  });

  describe('an entry that is neither file nor directory', () => {
    test.each(['pipe', 'socket', 'device'] as const)('a %s is never opened, and can be removed', async (kind) => {
      await using fixture = await prepare();
      await using special = await plantSpecial(kind, fixture.at('special'));
      if (!special.isPlanted) return expect.soft(process.getuid?.(), 'device nodes need root').not.toBe(0);
      const { files } = fixture;
      const reads = ['read', 'open', 'version'].map((name) => readOperations.find(([looker]) => looker === name)?.[1]);
      const writes = changeOperations.filter(([name]) => name.startsWith('write')).map(([, operate]) => operate);
      for (const operate of [...reads, ...writes]) await expectFailure(operate!(files, 'special'), 'E_NOT_A_FILE');
      await expectFailure(files.list('special', { limit: 10 }), 'E_NOT_A_DIRECTORY');
      await expectFailure(files.read('special/child'), 'E_NOT_A_DIRECTORY');
      expect(await files.stat('special')).toMatchObject({ kind: 'other' });
      await files.rename('special', 'moved');
      expect(await files.remove('moved', plainly)).toMatchObject({ kind: 'other', removed: 1 });
      expect(await files.list('', { limit: 10 })).toMatchObject({ entries: [] });
    });
  });
}

/** The device node behaves like /dev/null, so that a wrong read of it ends. */
async function plantSpecial(kind: 'pipe' | 'socket' | 'device', path: string) {
  if (kind === 'socket') {
    const server = createServer().listen(path);
    await once(server, 'listening');
    return { isPlanted: true, [Symbol.asyncDispose]: async () => void server.close() };
  }
  const [program, ...args] = kind === 'pipe' ? ['mkfifo', path] : ['mknod', path, 'c', '1', '3'];
  let isPlanted = true;
  try {
    execFileSync(program!, args, { stdio: 'ignore' });
  } catch {
    isPlanted = false;
  }
  return { isPlanted, async [Symbol.asyncDispose]() {} };
}
