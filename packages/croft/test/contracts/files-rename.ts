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
    test('moves a file with its content and mode, making directories', async () => {
      await using ground = await prepare();
      writeFileSync(ground.at('a.sh'), 'a');
      chmodSync(ground.at('a.sh'), 0o750);
      expect(await ground.files.rename('a.sh', 'new/deep/b.sh')).toEqual({
        from: 'a.sh',
        to: 'new/deep/b.sh',
        kind: 'file',
      });
      expect(readFileSync(ground.at('new/deep/b.sh'), 'utf8')).toBe('a');
      expect(statSync(ground.at('new/deep/b.sh'))).toMatchObject({ nlink: 1, mode: 0o100750 });
      expect(readdirSync(ground.directory)).toEqual(['new']);
    });

    test('moves a directory with all in it', async () => {
      await using ground = await prepare();
      mkdirSync(ground.at('dir/sub'), { recursive: true });
      writeFileSync(ground.at('dir/sub/a.txt'), 'a');
      expect(await ground.files.rename('dir', 'dir-2')).toEqual({ from: 'dir', to: 'dir-2', kind: 'directory' });
      expect(readFileSync(ground.at('dir-2/sub/a.txt'), 'utf8')).toBe('a');
      expect(existsSync(ground.at('dir'))).toBe(false);
    });

    test('moves a link and not what it leads to', async () => {
      await using ground = await prepare();
      mkdirSync(ground.at('dir'));
      const texts = { directory: 'dir', gone: 'nowhere', loop: 'loop', root: '.', out: `${ground.outside}/secret.txt` };
      for (const [name, text] of Object.entries(texts)) {
        symlinkSync(text, ground.at(name));
        expect(await ground.files.rename(name, `moved/${name}`)).toMatchObject({ from: name, kind: 'link' });
        expect(readlinkSync(ground.at(`moved/${name}`))).toBe(text);
      }
      expect(readdirSync(ground.directory).sort()).toEqual(['dir', 'moved']);
    });

    test.each(['file', 'empty', 'full', 'link', 'dangling', 'out', 'loop', '', '.', 'full/a.txt'])(
      'replaces nothing, not even %j',
      async (to) => {
        await using ground = await prepare();
        for (const name of ['empty', 'full', 'own-dir']) mkdirSync(ground.at(name));
        for (const name of ['file', 'full/a.txt', 'own.txt']) writeFileSync(ground.at(name), name);
        const links = { link: 'file', dangling: 'nowhere', out: ground.outside, loop: 'loop', 'own-link': 'file' };
        for (const [name, text] of Object.entries(links)) symlinkSync(text, ground.at(name));
        const before = pathsBelow(ground.directory);
        for (const from of ['own.txt', 'own-dir', 'own-link'])
          await expectFailure(ground.files.rename(from, to), 'E_ALREADY_EXISTS');
        expect(pathsBelow(ground.directory)).toEqual(before);
        expect(readFileSync(ground.at('file'), 'utf8')).toBe('file');
      },
    );

    test.each(['dir/sub', 'dir/new/deep', './dir//x', 'dir', 'link/new/deep', 'dir/sub/loop/x'])(
      'moves no directory into itself: %s',
      async (to) => {
        await using ground = await prepare();
        mkdirSync(ground.at('dir/sub'), { recursive: true });
        symlinkSync('dir', ground.at('link'));
        symlinkSync('..', ground.at('dir/sub/loop'));
        await expectFailure(ground.files.rename('dir', to), 'E_INVALID_INPUT', 'E_ALREADY_EXISTS');
        expect(pathsBelow(ground.directory)).toEqual(['dir', 'dir/sub', 'dir/sub/loop', 'link']);
      },
    );

    test('does not move the root, or what is not there', async () => {
      await using ground = await prepare();
      for (const from of ['', '.', ground.directory])
        await expectFailure(ground.files.rename(from, 'new/name'), 'E_INVALID_INPUT');
      await expectFailure(ground.files.rename('absent', 'new/name'), 'E_FILE_NOT_FOUND');
      expect(readdirSync(ground.directory)).toEqual([]);
    });

    test('gives one name to one of many, and leaves the others where they were', async () => {
      await using ground = await prepare();
      const names = Array.from({ length: 20 }, (_, index) => `own${index}`);
      for (const name of names) writeFileSync(ground.at(name), name);
      const outcomes = await Promise.allSettled(names.map((name) => ground.files.rename(name, 'new/prize')));
      const lost = names.filter((_, index) => outcomes[index]?.status === 'rejected');
      expect(lost).toHaveLength(19);
      for (const name of lost) expect(readFileSync(ground.at(name), 'utf8')).toBe(name);
      expect(names.filter((name) => !lost.includes(name))).toEqual([readFileSync(ground.at('new/prize'), 'utf8')]);
    });
  });
}
