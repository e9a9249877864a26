import { expect, test } from 'vitest';
import { checkQuota } from './check-quota.ts';

const quota = { bytes: 100, files: 10 };

test('usage up to the quota passes, and more is refused', () => {
  checkQuota({ bytes: 0, files: 0 }, { bytes: 100, files: 10 }, quota);
  expect(() => checkQuota({ bytes: 0, files: 0 }, { bytes: 101, files: 1 }, quota)).toThrow(/101 bytes.*100/);
  expect(() => checkQuota({ bytes: 0, files: 0 }, { bytes: 1, files: 11 }, quota)).toThrow(/11 files.*10/);
});

test('usage that shrinks passes, and growth of the other measure is refused', () => {
  checkQuota({ bytes: 300, files: 20 }, { bytes: 200, files: 20 }, quota);
  expect(() => checkQuota({ bytes: 300, files: 5 }, { bytes: 200, files: 11 }, quota)).toThrow(/files/);
});

test('without a quota nothing is refused', () => checkQuota({ bytes: 0, files: 0 }, { bytes: 1e15, files: 1e9 }, {}));
