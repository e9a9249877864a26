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
import type { Ground, Prepare } from './files.ts';
import { bytesOf, changers, expectFailure, lookers, operations, plainly, readText } from './files-expect.ts';

/** Links that lead out, and what below or behind them an attacker would ask for. */
const linksOut: readonly [string, (ground: Ground) => Record<string, string>, string][] = [
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
    test.each<[string, (ground: Ground) => [string, string]]>([
      ['a relative text', () => ['link', 'dir/a.txt']],
      ['an absolute text', (ground) => ['link', ground.at('dir/a.txt')]],
      ['a text that climbs', () => ['dir/link', '../dir/./a.txt']],
      ['an absolute text that climbs', (ground) => ['link', ground.at('dir/../dir/a.txt')]],
    ])('works for a file, with %s', async (_, plan) => {
      await using ground = await prepare();
      plantDirectory(ground);
      const [link, text] = plan(ground);
      symlinkSync(text, ground.at(link));
      expect(await ground.files.read(link)).toMatchObject({ path: 'dir/a.txt', bytes: bytesOf('inside') });
      expect(await ground.files.write(link, bytesOf('changed'))).toMatchObject({ path: 'dir/a.txt', kind: 'file' });
      expect(readlinkSync(ground.at(link))).toBe(text);
      expect(readFileSync(ground.at('dir/a.txt'), 'utf8')).toBe('changed');
      expect((await ground.files.version(link))?.path).toBe('dir/a.txt');
    });

    test.each<[string, (ground: Ground) => string]>([
      ['a relative text', () => 'dir'],
      ['an absolute text', (ground) => ground.at('dir')],
      ['a text with a slash at its end', () => './dir/'],
      ['another link', () => 'other'],
    ])('works for a directory, with %s', async (_, textOf) => {
      await using ground = await prepare();
      plantDirectory(ground);
      symlinkSync('dir', ground.at('other'));
      symlinkSync(textOf(ground), ground.at('link'));
      expect(await ground.files.list('link', { limit: 10 })).toMatchObject({
        path: 'dir',
        entries: [{ name: 'a.txt' }],
      });
      expect(await ground.files.read('link/a.txt')).toMatchObject({ path: 'dir/a.txt' });
      expect(await ground.files.write('link/new/b.txt', bytesOf('b'))).toMatchObject({ path: 'dir/new/b.txt' });
      expect(await ground.files.rename('link/a.txt', 'link/c.txt')).toMatchObject({
        from: 'dir/a.txt',
        to: 'dir/c.txt',
      });
      expect(await ground.files.remove('link/c.txt', plainly)).toMatchObject({ path: 'dir/c.txt' });
    });

    test.each<[string, (ground: Ground) => string]>([
      ['..', () => '..'],
      ['the absolute root', ({ directory }) => directory],
      ['down and up again', () => '../dir/..'],
    ])('may lead back to the root itself: %s', async (_, textOf) => {
      await using ground = await prepare();
      plantDirectory(ground);
      symlinkSync(textOf(ground), ground.at('dir/root'));
      expect(await ground.files.stat('dir/root')).toMatchObject({ path: '', kind: 'directory' });
      expect(await ground.files.read(`dir/${'root/dir/'.repeat(10)}a.txt`)).toMatchObject({ path: 'dir/a.txt' });
      await expectFailure(ground.files.write('dir/root', bytesOf('x')), 'E_NOT_A_FILE');
    });

    test('works at the end of a chain of thirty', async () => {
      await using ground = await prepare();
      plantDirectory(ground);
      symlinkSync('dir/a.txt', ground.at('link0'));
      for (let index = 1; index < 30; index += 1) symlinkSync(`link${index - 1}`, ground.at(`link${index}`));
      expect(await readText(ground.files, 'link29')).toBe('inside');
    });
  });

  describe('a link that leads out', () => {
    test.each(linksOut)('is followed by nobody: %s', async (_, plan, path) => {
      await using ground = await prepare();
      plantDirectory(ground);
      writeFileSync(ground.at('own.txt'), 'own');
      for (const [link, text] of Object.entries(plan(ground))) symlinkSync(text, ground.at(link));
      const names = readdirSync(ground.directory);
      for (const [, operate] of operations) await expectFailure(operate(ground.files, path), 'E_SANDBOX_VIOLATION');
      expect(readdirSync(ground.directory)).toEqual(names);
    });

    test.each([...lookers, ...changers.filter(([name]) => name.startsWith('write'))])(
      '%s does not follow one at the end of a path',
      async (_, operate) => {
        await using ground = await prepare();
        symlinkSync(`${ground.outside}/secret.txt`, ground.at('file'));
        symlinkSync(`../${basename(ground.outside)}/new.txt`, ground.at('new'));
        symlinkSync(ground.outside, ground.at('directory'));
        symlinkSync('file', ground.at('chain'));
        for (const path of ['file', 'new', 'directory', 'directory/', 'chain'])
          await expectFailure(operate(ground.files, path), 'E_SANDBOX_VIOLATION');
        expect(lstatSync(ground.at('file')).isSymbolicLink()).toBe(true);
      },
    );

    test('is not told where it leads', async () => {
      await using ground = await prepare();
      symlinkSync(ground.outside, ground.at('out'));
      const thrown = await ground.files.read('out/secret.txt').catch((reason) => reason);
      expect(JSON.stringify([thrown, thrown.message])).not.toContain(ground.outside);
      expect(thrown).toMatchObject({ code: 'E_SANDBOX_VIOLATION', details: { path: 'out/secret.txt' } });
    });
  });

  describe('a link that leads nowhere', () => {
    test.each(operations.filter(([name]) => !name.startsWith('remove') && !name.startsWith('rename')))(
      '%s says so and makes nothing',
      async (_, operate) => {
        await using ground = await prepare();
        mkdirSync(ground.at('dir'));
        symlinkSync('missing.txt', ground.at('a'));
        symlinkSync('dir/missing/deeper', ground.at('b'));
        symlinkSync(ground.at('missing.txt'), ground.at('c'));
        symlinkSync('a', ground.at('d'));
        const paths = ['a', 'b', 'c', 'd', 'a/child', 'b/new/child', 'c/child', 'd/child'];
        for (const path of paths) await expectFailure(operate(ground.files, path), 'E_DANGLING_LINK');
        expect(readdirSync(ground.directory).sort()).toEqual(['a', 'b', 'c', 'd', 'dir']);
        expect(readdirSync(ground.at('dir'))).toEqual([]);
      },
    );
  });

  describe('links that go round', () => {
    test.each(operations.filter(([name]) => !name.startsWith('remove') && !name.startsWith('rename')))(
      '%s gives up on them',
      async (_, operate) => {
        await using ground = await prepare();
        mkdirSync(ground.at('dir'));
        symlinkSync('self', ground.at('self'));
        symlinkSync('pong', ground.at('ping'));
        symlinkSync(ground.at('ping'), ground.at('pong'));
        symlinkSync('../dir/round/x', ground.at('dir/round'));
        symlinkSync('grow/grow', ground.at('grow'));
        for (const path of ['self', 'ping', 'self/a', 'pong/a', 'dir/round', 'dir/round/x', 'grow'])
          await expectFailure(operate(ground.files, path), 'E_LINK_LOOP');
      },
    );

    test('a chain longer than the kernel follows is a loop', async () => {
      await using ground = await prepare();
      writeFileSync(ground.at('link0'), 'end');
      for (let index = 1; index <= 60; index += 1) symlinkSync(`link${index - 1}`, ground.at(`link${index}`));
      await expectFailure(ground.files.read('link60'), 'E_LINK_LOOP');
    });
  });

  describe('a hard link to a file outside', () => {
    test('is replaced by a write; the file outside keeps its bytes', async () => {
      await using ground = await prepare();
      const neighbour = `${ground.directory}-neighbour.txt`;
      writeFileSync(neighbour, 'theirs');
      linkSync(neighbour, ground.at('hard.txt'));
      const { ino } = statSync(neighbour);
      await ground.files.write('hard.txt', bytesOf('ours'));
      expect(readFileSync(ground.at('hard.txt'), 'utf8')).toBe('ours');
      expect(readFileSync(neighbour, 'utf8')).toBe('theirs');
      expect(statSync(neighbour)).toMatchObject({ ino, nlink: 1 });
    });
  });
}

function plantDirectory(ground: Ground): void {
  mkdirSync(ground.at('dir'));
  writeFileSync(ground.at('dir/a.txt'), 'inside');
}
