import { expect, test } from 'vitest';
import { parseSize } from './parse-size.ts';

test.each([
  ['0', 0],
  ['1048576', 1_048_576],
  ['64k', 65_536],
  ['512m', 536_870_912],
  ['2G', 2_147_483_648],
  ['1.5g', 1_610_612_736],
  ['0.001k', 1],
  ['8191t', 9_006_099_743_113_216],
])('reads %s', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each([
  '',
  'm',
  '.5g',
  '1.g',
  '-1m',
  '+1m',
  ' 1m',
  '1m ',
  '1 m',
  '1mb',
  '1p',
  '0x10',
  '1e3',
  '١m',
  '1m\n',
  '8192t',
])('%j is not a size', (text) => {
  expect(parseSize(text)).toBeUndefined();
});

test('refuses a size that a number cannot hold exactly', () => {
  expect(parseSize('999999999999999t')).toBeUndefined();
});
