import { expect, test } from 'vitest';
import { durationText, parseDuration } from './parse-duration.ts';

test.each([
  ['30', 30_000],
  ['0', 0],
  ['1.5h', 5_400_000],
  ['7d', 604_800_000],
])('%s is %d milliseconds', (text, ms) => expect(parseDuration(text)).toBe(ms));

test.each(['', 'd', '-1', '1w', '1e3', ' 1s', '10ms', '1s\n'])('%j is not a duration', (text) =>
  expect(parseDuration(text)).toBeUndefined(),
);

test.each(['10s', '10m', '1h', '7d', '90s'])('%s is written as it is read', (text) =>
  expect(durationText(parseDuration(text) ?? 0)).toBe(text),
);
