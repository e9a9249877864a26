import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Prepare } from './files.ts';
import { expectFailure, plainly, withAll } from './files-expect.ts';

export function describeRemoval(prepare: Prepare): void {
  describe('removal', () => {
    test('of a file takes that file', async () => {
      await using fixture = await prepare();
      for (const name of ['a.txt', 'b.txt']) writeFileSync(fixture.at(name), name);
      expect(await fixture.files.remove('a.txt', plainly)).toEqual({ path: 'a.txt', kind: 'file', removed: 1 });
      expect(readdirSync(fixture.directory)).toEqual(['b.txt']);
    });

    test('of a missing path fails with not found', async () => {
      await using fixture = await prepare();
      for (const path of ['absent', 'absent/below'])
        for (const options of [plainly, withAll])
          await expectFailure(fixture.files.remove(path, options), 'E_FILE_NOT_FOUND');
    });

    test.each([plainly, withAll])('of an empty directory needs no permission (case %#)', async (options) => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      expect(await fixture.files.remove('dir', options)).toEqual({ path: 'dir', kind: 'directory', removed: 1 });
      expect(existsSync(fixture.at('dir'))).toBe(false);
    });

    test('of a full directory needs the permission', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir/sub'), { recursive: true });
      writeFileSync(fixture.at('dir/sub/a.txt'), 'a');
      await expectFailure(fixture.files.remove('dir', plainly), 'E_DIRECTORY_NOT_EMPTY');
      expect(readFileSync(fixture.at('dir/sub/a.txt'), 'utf8')).toBe('a');
      expect(await fixture.files.remove('dir', withAll)).toEqual({ path: 'dir', kind: 'directory', removed: 3 });
      expect(existsSync(fixture.at('dir'))).toBe(false);
    });

    test.each(['', '.', './', 'dir/..', '/'])('of the root is refused, spelt %j', async (path) => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      symlinkSync('.', fixture.at('self'));
      const spelt = path === '/' ? `${fixture.directory}/` : path;
      for (const options of [plainly, withAll])
        await expectFailure(fixture.files.remove(spelt, options), 'E_INVALID_INPUT');
      expect(readdirSync(fixture.directory).sort()).toEqual(['dir', 'self']);
    });

    test.each([plainly, withAll])('of a link removes the link and not its target (case %#)', async (options) => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      writeFileSync(fixture.at('dir/a.txt'), 'a');
      const texts = {
        file: 'dir/a.txt',
        directory: 'dir',
        root: '.',
        loop: 'loop',
        gone: 'nowhere',
        out: fixture.outside,
      };
      for (const [name, text] of Object.entries(texts)) {
        symlinkSync(text, fixture.at(name));
        expect(await fixture.files.remove(name, options)).toEqual({ path: name, kind: 'link', removed: 1 });
        symlinkSync(text, fixture.at(name));
        await fixture.files.remove(`${name}/`, options);
        expect(lstatSync(fixture.at(name), { throwIfNoEntry: false })).toBeUndefined();
      }
      expect(readFileSync(fixture.at('dir/a.txt'), 'utf8')).toBe('a');
    });

    test('of a tree follows no link in it', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('tree/sub'), { recursive: true });
      mkdirSync(fixture.at('kept'));
      writeFileSync(fixture.at('kept/a.txt'), 'a');
      symlinkSync(fixture.outside, fixture.at('tree/out'));
      symlinkSync(`${fixture.outside}/secret.txt`, fixture.at('tree/sub/out'));
      symlinkSync('../../kept', fixture.at('tree/sub/in'));
      symlinkSync('..', fixture.at('tree/up'));
      symlinkSync('.', fixture.at('tree/round'));
      expect(await fixture.files.remove('tree', withAll)).toEqual({ path: 'tree', kind: 'directory', removed: 7 });
      expect(readFileSync(fixture.at('kept/a.txt'), 'utf8')).toBe('a');
      expect(readdirSync(fixture.directory)).toEqual(['kept']);
    });

    test('of a directory removes thousands of entries', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('many'));
      for (let index = 0; index < 3000; index += 1) writeFileSync(fixture.at(`many/${index}`), '');
      expect(await fixture.files.remove('many', withAll)).toMatchObject({ removed: 3001 });
    });

    test('of a directory removes names that are not UTF-8', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      writeFileSync(Buffer.concat([Buffer.from(fixture.at('dir/')), Buffer.from([0x66, 0xff])]), 'x');
      await fixture.files.remove('dir', withAll);
      expect(existsSync(fixture.at('dir'))).toBe(false);
    });

    test('stops when it is aborted', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('many'));
      for (let index = 0; index < 1000; index += 1) writeFileSync(fixture.at(`many/${index}`), '');
      const work = fixture.files.remove('many', { recursive: true, signal: AbortSignal.abort() });
      await expect(work).rejects.toThrow();
      expect(readdirSync(fixture.at('many')).length).toBeGreaterThan(900);
    });
  });
}
