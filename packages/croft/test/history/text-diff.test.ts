import { expect, test } from 'vitest';
import type { TreeEntry } from '../../src/core/history/ports/tree.ts';
import { toFileDiffs } from '../../src/core/history/trees/text-diff.ts';

test('thousands of unrelated texts are not all compared, and all are listed', async () => {
  const lines = (word: string) => Array.from({ length: 12_000 }, (_, index) => `${word}${index}`).join('\n');
  const texts = new Map(['a', 'b'].map((word) => [word.repeat(64), Buffer.from(lines(word))]));
  const entry = (hash: string): TreeEntry => ({ kind: 'file', mode: 0o644, size: texts.get(hash)?.length ?? 0, hash });
  const change = { before: entry('a'.repeat(64)), after: entry('b'.repeat(64)) };
  const changes = Array.from({ length: 3000 }, (_, index) => ({ path: `f${index}`, ...change }));
  let reads = 0;
  const read = async (hash: string) => {
    reads += 1;
    return texts.get(hash) ?? Buffer.alloc(0);
  };
  expect(await toFileDiffs(changes, { read })).toHaveLength(3000);
  expect(reads).toBeLessThan(2 * 3000);
});
