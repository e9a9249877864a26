import { expect, test } from 'vitest';
import { judgeAddress } from './endpoint-addresses.ts';

test('an address is judged after its name is resolved', () => {
  const strict = { allowPrivate: false, isPlain: false };
  expect(judgeAddress('8.8.8.8', strict)).toBeUndefined();
  expect(judgeAddress('64:ff9b::7f00:1', strict)).toContain('loopback');
  expect(judgeAddress('127.0.0.1', { ...strict, allowPrivate: true })).toBeUndefined();
  expect(judgeAddress('8.8.8.8', { allowPrivate: true, isPlain: true })).toContain('https');
  expect(judgeAddress('169.254.169.254', { allowPrivate: true, isPlain: true })).toContain('metadata');
});
