import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Prepare } from './files.ts';
import { expectFailure, pathsBelow } from './files-expect.ts';

export function describeRename(prepare: Prepare): void {
  describe('rename', () => {
    test('moves a file with its content and mode, creating directories', async () => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.sh'), 'a');
      chmodSync(fixture.at('a.sh'), 0o750);
      expect(await fixture.files.rename('a.sh', 'new/deep/b.sh')).toEqual({
        from: 'a.sh',
        to: 'new/deep/b.sh',
        kind: 'file',
      });
      expect(readFileSync(fixture.at('new/deep/b.sh'), 'utf8')).toBe('a');
      expect(statSync(fixture.at('new/deep/b.sh'))).toMatchObject({ nlink: 1, mode: 0o100750 });
      expect(readdirSync(fixture.directory)).toEqual(['new']);
    });

    test('moves a directory with its content', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir/sub'), { recursive: true });
      writeFileSync(fixture.at('dir/sub/a.txt'), 'a');
      expect(await fixture.files.rename('dir', 'dir-2')).toEqual({ from: 'dir', to: 'dir-2', kind: 'directory' });
      expect(readFileSync(fixture.at('dir-2/sub/a.txt'), 'utf8')).toBe('a');
      expect(existsSync(fixture.at('dir'))).toBe(false);
    });

    test('moves a link and not its target', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      const texts = {
        directory: 'dir',
        gone: 'nowhere',
        loop: 'loop',
        root: '.',
        out: `${fixture.outside}/secret.txt`,
      };
      for (const [name, text] of Object.entries(texts)) {
        symlinkSync(text, fixture.at(name));
        expect(await fixture.files.rename(name, `moved/${name}`)).toMatchObject({ from: name, kind: 'link' });
        expect(readlinkSync(fixture.at(`moved/${name}`))).toBe(text);
      }
      expect(readdirSync(fixture.directory).sort()).toEqual(['dir', 'moved']);
    });

    test.each(['file', 'empty', 'full', 'link', 'dangling', 'out', 'loop', '', '.', 'full/a.txt'])(
      'never replaces an existing file, not even %j',
      async (to) => {
        await using fixture = await prepare();
        for (const name of ['empty', 'full', 'own-dir']) mkdirSync(fixture.at(name));
        for (const name of ['file', 'full/a.txt', 'own.txt']) writeFileSync(fixture.at(name), name);
        const links = { link: 'file', dangling: 'nowhere', out: fixture.outside, loop: 'loop', 'own-link': 'file' };
        for (const [name, text] of Object.entries(links)) symlinkSync(text, fixture.at(name));
        const before = pathsBelow(fixture.directory);
        for (const from of ['own.txt', 'own-dir', 'own-link'])
          await expectFailure(fixture.files.rename(from, to), 'E_ALREADY_EXISTS');
        expect(pathsBelow(fixture.directory)).toEqual(before);
        expect(readFileSync(fixture.at('file'), 'utf8')).toBe('file');
      },
    );

    test.each(['dir/sub', 'dir/new/deep', './dir//x', 'dir', 'link/new/deep', 'dir/sub/loop/x'])(
      'moves no directory into itself: %s',
      async (to) => {
        await using fixture = await prepare();
        mkdirSync(fixture.at('dir/sub'), { recursive: true });
        symlinkSync('dir', fixture.at('link'));
        symlinkSync('..', fixture.at('dir/sub/loop'));
        await expectFailure(fixture.files.rename('dir', to), 'E_INVALID_INPUT', 'E_ALREADY_EXISTS');
        expect(pathsBelow(fixture.directory)).toEqual(['dir', 'dir/sub', 'dir/sub/loop', 'link']);
      },
    );

    test('refuses the root and missing paths', async () => {
      await using fixture = await prepare();
      for (const from of ['', '.', fixture.directory])
        await expectFailure(fixture.files.rename(from, 'new/name'), 'E_INVALID_INPUT');
      await expectFailure(fixture.files.rename('absent', 'new/name'), 'E_FILE_NOT_FOUND');
      expect(readdirSync(fixture.directory)).toEqual([]);
    });

    test('gives one of many files a contested name, and leaves the others in place', async () => {
      await using fixture = await prepare();
      const names = Array.from({ length: 20 }, (_, index) => `own${index}`);
      for (const name of names) writeFileSync(fixture.at(name), name);
      const outcomes = await Promise.allSettled(names.map((name) => fixture.files.rename(name, 'new/prize')));
      const lost = names.filter((_, index) => outcomes[index]?.status === 'rejected');
      expect(lost).toHaveLength(19);
      for (const name of lost) expect(readFileSync(fixture.at(name), 'utf8')).toBe(name);
      expect(names.filter((name) => !lost.includes(name))).toEqual([readFileSync(fixture.at('new/prize'), 'utf8')]);
    });
  });
}
