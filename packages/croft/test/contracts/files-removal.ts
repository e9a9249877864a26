import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Prepare } from './files.ts';
import { expectFailure, plainly, withAll } from './files-expect.ts';

export function describeRemoval(prepare: Prepare): void {
  describe('removal', () => {
    test('of a file takes that file', async () => {
      await using ground = await prepare();
      for (const name of ['a.txt', 'b.txt']) writeFileSync(ground.at(name), name);
      expect(await ground.files.remove('a.txt', plainly)).toEqual({ path: 'a.txt', kind: 'file', removed: 1 });
      expect(readdirSync(ground.directory)).toEqual(['b.txt']);
    });

    test('of nothing says so', async () => {
      await using ground = await prepare();
      for (const path of ['absent', 'absent/below'])
        for (const options of [plainly, withAll])
          await expectFailure(ground.files.remove(path, options), 'E_FILE_NOT_FOUND');
    });

    test.each([plainly, withAll])('of an empty directory needs no permission (case %#)', async (options) => {
      await using ground = await prepare();
      mkdirSync(ground.at('dir'));
      expect(await ground.files.remove('dir', options)).toEqual({ path: 'dir', kind: 'directory', removed: 1 });
      expect(existsSync(ground.at('dir'))).toBe(false);
    });

    test('of a full directory happens only when asked for', async () => {
      await using ground = await prepare();
      mkdirSync(ground.at('dir/sub'), { recursive: true });
      writeFileSync(ground.at('dir/sub/a.txt'), 'a');
      await expectFailure(ground.files.remove('dir', plainly), 'E_DIRECTORY_NOT_EMPTY');
      expect(readFileSync(ground.at('dir/sub/a.txt'), 'utf8')).toBe('a');
      expect(await ground.files.remove('dir', withAll)).toEqual({ path: 'dir', kind: 'directory', removed: 3 });
      expect(existsSync(ground.at('dir'))).toBe(false);
    });

    test.each(['', '.', './', 'dir/..', '/'])('of the root is refused, spelt %j', async (path) => {
      await using ground = await prepare();
      mkdirSync(ground.at('dir'));
      symlinkSync('.', ground.at('self'));
      const spelt = path === '/' ? `${ground.directory}/` : path;
      for (const options of [plainly, withAll])
        await expectFailure(ground.files.remove(spelt, options), 'E_INVALID_INPUT');
      expect(readdirSync(ground.directory).sort()).toEqual(['dir', 'self']);
    });

    test.each([plainly, withAll])('of a link takes the link and not what it leads to (case %#)', async (options) => {
      await using ground = await prepare();
      mkdirSync(ground.at('dir'));
      writeFileSync(ground.at('dir/a.txt'), 'a');
      const texts = {
        file: 'dir/a.txt',
        directory: 'dir',
        root: '.',
        loop: 'loop',
        gone: 'nowhere',
        out: ground.outside,
      };
      for (const [name, text] of Object.entries(texts)) {
        symlinkSync(text, ground.at(name));
        expect(await ground.files.remove(name, options)).toEqual({ path: name, kind: 'link', removed: 1 });
        symlinkSync(text, ground.at(name));
        await ground.files.remove(`${name}/`, options);
        expect(lstatSync(ground.at(name), { throwIfNoEntry: false })).toBeUndefined();
      }
      expect(readFileSync(ground.at('dir/a.txt'), 'utf8')).toBe('a');
    });

    test('of a tree follows no link in it', async () => {
      await using ground = await prepare();
      mkdirSync(ground.at('tree/sub'), { recursive: true });
      mkdirSync(ground.at('kept'));
      writeFileSync(ground.at('kept/a.txt'), 'a');
      symlinkSync(ground.outside, ground.at('tree/out'));
      symlinkSync(`${ground.outside}/secret.txt`, ground.at('tree/sub/out'));
      symlinkSync('../../kept', ground.at('tree/sub/in'));
      symlinkSync('..', ground.at('tree/up'));
      symlinkSync('.', ground.at('tree/round'));
      expect(await ground.files.remove('tree', withAll)).toEqual({ path: 'tree', kind: 'directory', removed: 7 });
      expect(readFileSync(ground.at('kept/a.txt'), 'utf8')).toBe('a');
      expect(readdirSync(ground.directory)).toEqual(['kept']);
    });

    test('of a directory with thousands of entries takes them all', async () => {
      await using ground = await prepare();
      mkdirSync(ground.at('many'));
      for (let index = 0; index < 3000; index += 1) writeFileSync(ground.at(`many/${index}`), '');
      expect(await ground.files.remove('many', withAll)).toMatchObject({ removed: 3001 });
    });

    test('of a directory takes names that are not UTF-8 with it', async () => {
      await using ground = await prepare();
      mkdirSync(ground.at('dir'));
      writeFileSync(Buffer.concat([Buffer.from(ground.at('dir/')), Buffer.from([0x66, 0xff])]), 'x');
      await ground.files.remove('dir', withAll);
      expect(existsSync(ground.at('dir'))).toBe(false);
    });

    test('stops when it is called off', async () => {
      await using ground = await prepare();
      mkdirSync(ground.at('many'));
      for (let index = 0; index < 1000; index += 1) writeFileSync(ground.at(`many/${index}`), '');
      const work = ground.files.remove('many', { recursive: true, signal: AbortSignal.abort() });
      await expect(work).rejects.toThrow();
      expect(readdirSync(ground.at('many')).length).toBeGreaterThan(900);
    });
  });
}
