import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
} from './files-expect.ts';

/** Links that lead out, and a path below or behind them that an attacker would ask for. */
const linksOut: readonly [string, (fixture: FilesFixture) => Record<string, string>, string][] = [
  ['a relative one', ({ outside }) => ({ out: `../${basename(outside)}` }), 'out/secret.txt'],
  ['an absolute one', ({ outside }) => ({ out: outside }), 'out/secret.txt'],
  ['one to a new file below', ({ outside }) => ({ out: outside }), 'out/new/file.txt'],
  ['one to the parent', () => ({ up: '..' }), 'up/x'],
  [
    'one to the parent, and down again',
    ({ outside }) => ({ up: '..', evil: `up/${basename(outside)}` }),
    'evil/secret.txt',
  ],
  ['one to the root of the machine', () => ({ slash: '/' }), 'slash/etc/passwd'],
  ['one behind another', ({ outside }) => ({ a: 'b', b: 'c', c: outside }), 'a/secret.txt'],
  [
    'one that climbs from a directory',
    ({ outside }) => ({ 'dir/out': `../../${basename(outside)}` }),
    'dir/out/secret.txt',
  ],
  [
    'one that descends, then climbs too far',
    ({ outside }) => ({ out: `dir/../../${basename(outside)}` }),
    'out/secret.txt',
  ],
  [
    'one that climbs after another',
    ({ outside }) => ({ in: 'dir', out: `in/../../${basename(outside)}` }),
    'out/secret.txt',
  ],
  ['one through the proc file system', ({ outside }) => ({ out: `/proc/self/root${outside}` }), 'out/secret.txt'],
  ['one to this process’s directory', () => ({ out: '/proc/self/cwd' }), 'out/package.json'],
  [
    'one with a climb in an absolute text',
    ({ directory, outside }) => ({ out: `${directory}/../${basename(outside)}` }),
    'out/secret.txt',
  ],
];

export function describeLinks(prepare: Prepare): void {
  describe('a link that stays inside', () => {
    test.each<[string, (fixture: FilesFixture) => [string, string]]>([
      ['a relative text', () => ['link', 'dir/a.txt']],
      ['an absolute text', (fixture) => ['link', fixture.at('dir/a.txt')]],
      ['a text that climbs', () => ['dir/link', '../dir/./a.txt']],
      ['an absolute text that climbs', (fixture) => ['link', fixture.at('dir/../dir/a.txt')]],
    ])('works for a file, with %s', async (_, plan) => {
      await using fixture = await prepare();
      plantDirectory(fixture);
      const [link, text] = plan(fixture);
      symlinkSync(text, fixture.at(link));
      expect(await fixture.files.read(link)).toMatchObject({ path: 'dir/a.txt', bytes: bytesOf('inside') });
      expect(await fixture.files.write(link, bytesOf('changed'))).toMatchObject({ path: 'dir/a.txt', kind: 'file' });
      expect(readlinkSync(fixture.at(link))).toBe(text);
      expect(readFileSync(fixture.at('dir/a.txt'), 'utf8')).toBe('changed');
      expect((await fixture.files.version(link))?.path).toBe('dir/a.txt');
    });

    test.each<[string, (fixture: FilesFixture) => string]>([
      ['a relative text', () => 'dir'],
      ['an absolute text', (fixture) => fixture.at('dir')],
      ['a text with a slash at its end', () => './dir/'],
      ['another link', () => 'other'],
    ])('works for a directory, with %s', async (_, textOf) => {
      await using fixture = await prepare();
      plantDirectory(fixture);
      symlinkSync('dir', fixture.at('other'));
      symlinkSync(textOf(fixture), fixture.at('link'));
      expect(await fixture.files.list('link', { limit: 10 })).toMatchObject({
        path: 'dir',
        entries: [{ name: 'a.txt' }],
      });
      expect(await fixture.files.read('link/a.txt')).toMatchObject({ path: 'dir/a.txt' });
      expect(await fixture.files.write('link/new/b.txt', bytesOf('b'))).toMatchObject({ path: 'dir/new/b.txt' });
      expect(await fixture.files.rename('link/a.txt', 'link/c.txt')).toMatchObject({
        from: 'dir/a.txt',
        to: 'dir/c.txt',
      });
      expect(await fixture.files.remove('link/c.txt', plainly)).toMatchObject({ path: 'dir/c.txt' });
    });

    test.each<[string, (fixture: FilesFixture) => string]>([
      ['..', () => '..'],
      ['the absolute root', ({ directory }) => directory],
      ['down and up again', () => '../dir/..'],
    ])('may lead back to the root itself: %s', async (_, textOf) => {
      await using fixture = await prepare();
      plantDirectory(fixture);
      symlinkSync(textOf(fixture), fixture.at('dir/root'));
      expect(await fixture.files.stat('dir/root')).toMatchObject({ path: '', kind: 'directory' });
      expect(await fixture.files.read(`dir/${'root/dir/'.repeat(10)}a.txt`)).toMatchObject({ path: 'dir/a.txt' });
      await expectFailure(fixture.files.write('dir/root', bytesOf('x')), 'E_NOT_A_FILE');
    });

    test('works at the end of a chain of thirty', async () => {
      await using fixture = await prepare();
      plantDirectory(fixture);
      symlinkSync('dir/a.txt', fixture.at('link0'));
      for (let index = 1; index < 30; index += 1) symlinkSync(`link${index - 1}`, fixture.at(`link${index}`));
      expect(await readText(fixture.files, 'link29')).toBe('inside');
    });
  });

  describe('a link that leads out of the workspace', () => {
    test.each(linksOut)('is refused: %s', async (_, plan, path) => {
      await using fixture = await prepare();
      plantDirectory(fixture);
      writeFileSync(fixture.at('own.txt'), 'own');
      for (const [link, text] of Object.entries(plan(fixture))) symlinkSync(text, fixture.at(link));
      const names = readdirSync(fixture.directory);
      for (const [, operate] of operations) await expectFailure(operate(fixture.files, path), 'E_SANDBOX_VIOLATION');
      expect(readdirSync(fixture.directory)).toEqual(names);
    });

    test.each([...readOperations, ...changeOperations.filter(([name]) => name.startsWith('write'))])(
      'at the end of a path is not followed by %s',
      async (_, operate) => {
        await using fixture = await prepare();
        symlinkSync(`${fixture.outside}/secret.txt`, fixture.at('file'));
        symlinkSync(`../${basename(fixture.outside)}/new.txt`, fixture.at('new'));
        symlinkSync(fixture.outside, fixture.at('directory'));
        symlinkSync('file', fixture.at('chain'));
        for (const path of ['file', 'new', 'directory', 'directory/', 'chain'])
          await expectFailure(operate(fixture.files, path), 'E_SANDBOX_VIOLATION');
        expect(lstatSync(fixture.at('file')).isSymbolicLink()).toBe(true);
      },
    );

    test('is refused without its target in the error', async () => {
      await using fixture = await prepare();
      symlinkSync(fixture.outside, fixture.at('out'));
      const thrown = await fixture.files.read('out/secret.txt').catch((reason) => reason);
      expect(JSON.stringify([thrown, thrown.message])).not.toContain(fixture.outside);
      expect(thrown).toMatchObject({ code: 'E_SANDBOX_VIOLATION', details: { path: 'out/secret.txt' } });
    });
  });

  describe('a link to a missing file', () => {
    test.each(operations.filter(([name]) => !name.startsWith('remove') && !name.startsWith('rename')))(
      '%s reports it and makes nothing',
      async (_, operate) => {
        await using fixture = await prepare();
        mkdirSync(fixture.at('dir'));
        symlinkSync('missing.txt', fixture.at('a'));
        symlinkSync('dir/missing/deeper', fixture.at('b'));
        symlinkSync(fixture.at('missing.txt'), fixture.at('c'));
        symlinkSync('a', fixture.at('d'));
        const paths = ['a', 'b', 'c', 'd', 'a/child', 'b/new/child', 'c/child', 'd/child'];
        for (const path of paths) await expectFailure(operate(fixture.files, path), 'E_DANGLING_LINK');
        expect(readdirSync(fixture.directory).sort()).toEqual(['a', 'b', 'c', 'd', 'dir']);
        expect(readdirSync(fixture.at('dir'))).toEqual([]);
      },
    );
  });

  describe('links in a circle', () => {
    test.each(operations.filter(([name]) => !name.startsWith('remove') && !name.startsWith('rename')))(
      '%s gives up on them',
      async (_, operate) => {
        await using fixture = await prepare();
        mkdirSync(fixture.at('dir'));
        symlinkSync('self', fixture.at('self'));
        symlinkSync('pong', fixture.at('ping'));
        symlinkSync(fixture.at('ping'), fixture.at('pong'));
        symlinkSync('../dir/round/x', fixture.at('dir/round'));
        symlinkSync('grow/grow', fixture.at('grow'));
        for (const path of ['self', 'ping', 'self/a', 'pong/a', 'dir/round', 'dir/round/x', 'grow'])
          await expectFailure(operate(fixture.files, path), 'E_LINK_LOOP');
      },
    );

    test('a chain longer than the kernel follows is a loop', async () => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('link0'), 'end');
      for (let index = 1; index <= 60; index += 1) symlinkSync(`link${index - 1}`, fixture.at(`link${index}`));
      await expectFailure(fixture.files.read('link60'), 'E_LINK_LOOP');
    });
  });

  describe('a hard link to a file outside', () => {
    test('is replaced by a write; the file outside keeps its bytes', async () => {
      await using fixture = await prepare();
      const neighbour = `${fixture.directory}-neighbour.txt`;
      writeFileSync(neighbour, 'theirs');
      linkSync(neighbour, fixture.at('hard.txt'));
      const { ino } = statSync(neighbour);
      await fixture.files.write('hard.txt', bytesOf('ours'));
      expect(readFileSync(fixture.at('hard.txt'), 'utf8')).toBe('ours');
      expect(readFileSync(neighbour, 'utf8')).toBe('theirs');
      expect(statSync(neighbour)).toMatchObject({ ino, nlink: 1 });
    });
  });
}

function plantDirectory(fixture: FilesFixture): void {
  mkdirSync(fixture.at('dir'));
  writeFileSync(fixture.at('dir/a.txt'), 'inside');
}
