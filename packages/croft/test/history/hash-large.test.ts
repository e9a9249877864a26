import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createAttributeChanges, type LastCapture } from '../../src/core/history/checkpoints/attribute-changes.ts';
import { createOpenCalls } from '../../src/core/history/checkpoints/open-calls.ts';
import { hashLargeFile } from '../../src/history/files/hash-large-file.ts';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { makeDirectory } from '../support/harness.ts';
import { prepareTree } from './trees.ts';

const megabyte = 1024 * 1024;

function makeSparse(
  path: string,
  size: number,
  extents: readonly (readonly [at: number, length: number])[] = [],
): void {
  const file = openSync(path, 'w');
  ftruncateSync(file, size);
  for (const [at, length] of extents) writeSync(file, Buffer.alloc(length, 'x'), 0, length, Math.min(at, size));
  closeSync(file);
}

test('a sparse file has the hash of its bytes', async () => {
  using directory = makeDirectory();
  const offset = fc.integer({ min: 0, max: 6 * megabyte });
  const extents = fc.array(fc.tuple(offset, fc.integer({ min: 1, max: 70_000 })), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(offset, extents, async (size, data) => {
      makeSparse(directory.at('f'), size, data);
      const file = openSync(directory.at('f'), 'r');
      const found = await hashLargeFile(file);
      closeSync(file);
      expect(found).toMatchObject({ entry: { hash: sha256(readFileSync(directory.at('f'))) } });
    }),
    { numRuns: 40 },
  );
});

test('hashing ends early when no caller wants the result', async () => {
  using directory = makeDirectory();
  makeSparse(directory.at('f'), 2 ** 40);
  const file = openSync(directory.at('f'), 'r');
  const stop = new AbortController();
  const hashing = hashLargeFile(file, stop.signal);
  stop.abort(new Error('enough'));
  await expect(hashing).rejects.toThrow('enough');
  closeSync(file);
});

test('a capture waits for a limited number of sparse files, and a later one has the rest', async () => {
  const fixture = prepareTree({ 'a.txt': 'a' });
  const tree = await fixture.open();
  makeSparse(fixture.at('big'), 40 * megabyte, [[megabyte, 10]]);
  const options = { scope: 'source', maxFileBytes: 32 * megabyte, maxHoleBytes: 8 * megabyte } as const;
  const first = await tree.capture(options);
  expect(first.missed).toContain('big');
  expect(await tree.entry(first.root, 'big')).toBeUndefined();
  const later = await vi.waitUntil(async () => {
    const captured = await tree.capture(options);
    return captured.late.length > 0 && captured;
  });
  expect(later.late).toEqual(['big']);
  expect((await tree.entry(later.root, 'big'))?.hash).toBe(sha256(readFileSync(fixture.at('big'))));
  expect((await tree.capture(options)).late).toEqual([]);
  // Without a time limit a capture waits.
  makeSparse(fixture.at('other'), 41 * megabyte);
  expect((await tree.capture({ scope: 'source' })).missed).toEqual([]);
});

test('a file that no capture waited for belongs to no call, so that undo never removes it', async () => {
  const fixture = prepareTree({ 'a.txt': 'a' });
  const tree = await fixture.open();
  const seen: LastCapture = { root: undefined, reported: new Map() };
  const changed: string[][] = [];
  const log = {
    async add({ before, after }: { before: string; after: string }) {
      changed.push((await tree.diff(before, after)).map(({ path }) => path));
    },
  };
  const { captureHash, attribute } = createAttributeChanges({
    calls: createOpenCalls(),
    ...{ tree, seen, now: () => new Date(), maxFileBytes: 32 * megabyte, onCheckpoint: () => {} },
    onWarning: () => {},
    log: log as never,
  });
  seen.root = await captureHash();
  makeSparse(fixture.at('big'), 256 * megabyte);
  const call = { id: 'c', call: {}, alongside: new Set(), isPartial: false } as never;
  await vi.waitUntil(async () => {
    await attribute(call);
    return (await tree.entry(seen.root ?? '', 'big')) !== undefined;
  });
  expect(changed.flat()).not.toContain('big');
});
