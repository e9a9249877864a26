import { expect, test } from 'vitest';
import {
  toCount,
  toDuration,
  toRelativeTime,
  toSessionName,
  toShortId,
  toSize,
  toSpan,
} from './format-times-and-sizes.ts';

test('durations, sizes, counts, ids', () => {
  expect([40, 8100, 31_000, 125_000].map(toDuration)).toEqual(['40 ms', '8.1 s', '31 s', '2 min 5 s']);
  expect([0, 1023, 1024, 5 * 1024 ** 2, 3 * 1024 ** 3].map(toSize)).toEqual([
    '0 B',
    '1023 B',
    '1.0 KiB',
    '5.0 MiB',
    '3.0 GiB',
  ]);
  expect([toCount(1, 'file'), toCount(2, 'file'), toCount(12_000, 'process', 'processes')]).toEqual([
    '1 file',
    '2 files',
    '12,000 processes',
  ]);
  expect([toShortId('flags'), toShortId('agent_0123456789abcdef')]).toEqual(['flags', 'agent_…abcdef']);
});

test('a session has the name that its client gave it', () => {
  const key = `key_${'0a'.repeat(12)}`;
  expect([`${key}/default`, `${key}/nightly run`, 'own', '', `${key}/`].map(toSessionName)).toEqual([
    'default',
    'nightly run',
    'own',
    'default',
    'default',
  ]);
});

test('how long ago, and how long still', () => {
  const now = Date.parse('2030-01-01T12:00:00Z');
  expect(toRelativeTime('2030-01-01T11:59:58Z', now)).toBe('now');
  expect(toRelativeTime('2030-01-01T11:12:00Z', now)).toBe('48 min ago');
  expect(toRelativeTime('2030-01-01T12:48:00Z', now)).toBe('in 48 min');
  expect([toSpan(-5), toSpan(90 * 60_000), toSpan(3 * 86_400_000)]).toEqual(['0 s', '1 h', '3 d']);
});
