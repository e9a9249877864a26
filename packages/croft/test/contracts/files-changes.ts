import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import { describe, expect, test } from 'vitest';
import type { CurrentFile } from '../../src/core/files/files.ts';
import type { Prepare } from './files.ts';
import { bytesOf, expectFailure, pathsBelow } from './files-expect.ts';

const increment = async (current: CurrentFile | undefined) => ({
  bytes: bytesOf(String(Number((await current?.content()) ?? 0) + 1)),
});

export function describeChanges(prepare: Prepare): void {
  describe('a change', () => {
    test('applies to the current content, through a link too, and keeps the mode', async () => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.txt'), 'old');
      chmodSync(fixture.at('a.txt'), 0o640);
      symlinkSync('a.txt', fixture.at('link'));
      const seen = await fixture.files.read('a.txt');
      const { written, change } = await fixture.files.change('link', async (current) => {
        expect(current).toMatchObject({ path: 'a.txt', kind: 'file', size: 3, version: seen.version });
        return { bytes: bytesOf(`${await current?.content()} and new`), extra: 7 };
      });
      expect({ ...written, mtimeMs: 0 }).toMatchObject({ path: 'a.txt', size: 11 });
      expect(change.extra).toBe(7);
      expect(await fixture.files.read('a.txt')).toMatchObject({ version: written.version, mtimeMs: written.mtimeMs });
      expect(statSync(fixture.at('a.txt')).mode & 0o777).toBe(0o640);
    });

    test('creates a missing file, with its directories', async () => {
      await using fixture = await prepare();
      const seen: unknown[] = [];
      for (const path of ['a.txt', 'new/deep/a.txt'])
        await fixture.files.change(path, (current) => ({ bytes: bytesOf(`${seen.push(current)}`) }));
      expect(seen).toEqual([undefined, undefined]);
      expect(readFileSync(fixture.at('new/deep/a.txt'), 'utf8')).toBe('2');
    });

    test.each(['a.txt', 'b.txt', 'new/deep/a.txt'])('that is refused leaves everything as it was: %s', async (path) => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.txt'), 'old');
      const refuse = () => {
        throw new AppError('E_NOT_READ', 'no');
      };
      await expectFailure(fixture.files.change(path, refuse), 'E_NOT_READ');
      expect(pathsBelow(fixture.directory)).toEqual(['a.txt']);
      expect(readFileSync(fixture.at('a.txt'), 'utf8')).toBe('old');
    });

    test.each(['a.txt', 'dir/a.txt'])('is not lost among concurrent changes: %s', async (path) => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      await Promise.all(Array.from({ length: 30 }, () => fixture.files.change(path, increment)));
      expect(readFileSync(fixture.at(path), 'utf8')).toBe('30');
    });

    test('fails if another process wrote the file meanwhile', async () => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('a.bin'), 'old');
      const bytes = Buffer.alloc(32 * 1024 * 1024);
      const work = expectFailure(
        fixture.files.change('a.bin', () => ({ bytes })),
        'E_STALE',
      );
      while (readdirSync(fixture.directory).length === 1) await setImmediate();
      writeFileSync(fixture.at('a.bin'), 'hers');
      await work;
      expect(readdirSync(fixture.directory)).toEqual(['a.bin']);
      expect(readFileSync(fixture.at('a.bin'), 'utf8')).toBe('hers');
    });

    test('replaces also a file too large to be read', async () => {
      await using fixture = await prepare();
      writeFileSync(fixture.at('large.bin'), '');
      truncateSync(fixture.at('large.bin'), 1024 ** 4);
      await expectFailure(fixture.files.change('large.bin', increment), 'E_TOO_LARGE');
      const seen = await fixture.files.version('large.bin');
      await fixture.files.change('large.bin', (current) => {
        expect(current?.version).toBe(seen?.version);
        return { bytes: bytesOf('small') };
      });
      expect(readFileSync(fixture.at('large.bin'), 'utf8')).toBe('small');
    });
  });
}
