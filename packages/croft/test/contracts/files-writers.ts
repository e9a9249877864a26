import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Prepare } from './files.ts';
import { bytesOf, expectFailure, pathsBelow } from './files-expect.ts';

const writers = Array.from({ length: 16 }, (_, index) => Buffer.alloc(300 * 1024, `${index.toString(16)}`));

export function describeWriters(prepare: Prepare): void {
  describe('concurrent writers', () => {
    test('leave the whole content of one of them, and readers see nothing else', async () => {
      await using fixture = await prepare();
      await fixture.files.write('a.bin', writers[0]!);
      const isDone = Promise.all(writers.map((bytes) => fixture.files.write('a.bin', bytes))).then(() => true);
      do {
        const { bytes } = await fixture.files.read('a.bin');
        expect(writers.some((written) => written.equals(bytes))).toBe(true);
      } while (!(await Promise.race([isDone, setImmediate(false)])));
      const last = readFileSync(fixture.at('a.bin'));
      expect(writers.some((written) => written.equals(last))).toBe(true);
    });

    test('of a file that must be new: exactly one creates it', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      symlinkSync('dir', fixture.at('link'));
      const work = writers.map((bytes, index) =>
        fixture.files.write(index % 2 === 0 ? 'dir/a.bin' : 'link/a.bin', bytes, { expect: 'absent' }),
      );
      const winner = await onlyWinner(work, 'E_ALREADY_EXISTS');
      expect(readFileSync(fixture.at('dir/a.bin')).equals(writers[winner]!)).toBe(true);
    });

    test('of the same version: exactly one replaces it', async () => {
      await using fixture = await prepare();
      const seen = await fixture.files.write('a.bin', bytesOf('seen by all'));
      symlinkSync('a.bin', fixture.at('link'));
      const work = writers.map((bytes, index) =>
        fixture.files.write(index % 2 === 0 ? 'a.bin' : 'link', bytes, { expect: seen }),
      );
      const winner = await onlyWinner(work, 'E_STALE');
      expect(readFileSync(fixture.at('a.bin')).equals(writers[winner]!)).toBe(true);
    });

    test('create their common directories once', async () => {
      await using fixture = await prepare();
      await Promise.all(writers.map((bytes, index) => fixture.files.write(`new/deep/${index}.bin`, bytes)));
      expect(readdirSync(fixture.at('new/deep'))).toHaveLength(writers.length);
    });
  });

  describe('after a write', () => {
    test('only the file is there, on success and on failure', async () => {
      await using fixture = await prepare();
      mkdirSync(fixture.at('dir'));
      const seen = await fixture.files.write('a.txt', bytesOf('a'));
      await fixture.files.write('a.txt', bytesOf('b'), { expect: seen });
      await expectFailure(fixture.files.write('a.txt', bytesOf('c'), { expect: seen }), 'E_STALE');
      await expectFailure(fixture.files.write('a.txt', bytesOf('c'), { expect: 'absent' }), 'E_ALREADY_EXISTS');
      await expectFailure(fixture.files.write('dir', bytesOf('c')), 'E_NOT_A_FILE');
      await expectFailure(fixture.files.write('a.txt/b', bytesOf('c')), 'E_NOT_A_DIRECTORY');
      expect(pathsBelow(fixture.directory)).toEqual(['a.txt', 'dir']);
    });

    test('a file of another process is kept, if that wrote it meanwhile', async () => {
      await using fixture = await prepare();
      await fixture.files.write('a.bin', bytesOf('old'));
      const work = expectFailure(fixture.files.write('a.bin', Buffer.alloc(32 * 1024 * 1024)), 'E_STALE');
      while (readdirSync(fixture.directory).length === 1) await setImmediate();
      writeFileSync(fixture.at('a.bin'), 'hers');
      await work;
      expect(readdirSync(fixture.directory)).toEqual(['a.bin']);
      expect(readFileSync(fixture.at('a.bin'), 'utf8')).toBe('hers');
    });
  });
}

/** Returns the index of the one that succeeded. All others must fail with the code. */
async function onlyWinner(work: Promise<unknown>[], code: string): Promise<number> {
  const outcomes = await Promise.allSettled(work);
  const codes = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
  expect(codes).toEqual(Array(work.length - 1).fill(code));
  return outcomes.findIndex(({ status }) => status === 'fulfilled');
}
