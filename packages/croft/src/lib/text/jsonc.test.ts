import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJsonc } from './jsonc.ts';

test.each([
  ['{ "$schema": "https://example.com//x", "a": 1 }', { $schema: 'https://example.com//x', a: 1 }],
  ['// first\n{ "a": [1, 2,], /* , } */ "b": "/* no */", }', { a: [1, 2], b: '/* no */' }],
  ['{ "a": "x\\"// y", // "b": 2,\n }', { a: 'x"// y' }],
  ['{"a":1, // last\n/* really */ }', { a: 1 }],
  ['["},", ",]",]', ['},', ',]']],
])('%s', (text, value) => {
  expect(parseJsonc(text)).toEqual(value);
});

test.each(['{,}x', '[1,,2]', '{"a"', '/* no end', '"no end', '"\\', ''])('%j is refused', (text) => {
  expect(() => parseJsonc(text)).toThrow(SyntaxError);
});

test('plain JSON stays the same', () => {
  fc.assert(fc.property(fc.json(), (text) => void expect(parseJsonc(text)).toEqual(JSON.parse(text))));
});
