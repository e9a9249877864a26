import fc from 'fast-check';
import { expect, test } from 'vitest';
import { goQuote } from './go-quote.ts';

const anyChar = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code).toWellFormed());

test.each([
  ['', '""'],
  ['plain text', '"plain text"'],
  ['say "hi"', String.raw`"say \"hi\""`],
  ['C:\\dir', String.raw`"C:\\dir"`],
  ['\x07\b\f\n\r\t\v', String.raw`"\a\b\f\n\r\t\v"`],
  ["it's `fine` $&", '"it\'s `fine` $&"'],
  ['\x00\x1b\x7f', String.raw`"\x00\x1b\x7f"`],
  ['\u0080\u009f', String.raw`"\u0080\u009f"`],
  ['\u00a0\u3000\u2028', String.raw`"\u00a0\u3000\u2028"`],
  ['\u00ad\u200b\ufeff', String.raw`"\u00ad\u200b\ufeff"`],
  ['\ue000\uffff', String.raw`"\ue000\uffff"`],
  ['\u{e0001}\u{10ffff}', String.raw`"\U000e0001\U0010ffff"`],
  ['\ud800', String.raw`"\ufffd"`],
  ['a\udc00b', String.raw`"a\ufffdb"`],
  ['\ufffd', '"\ufffd"'],
  ['e\u0301 ☺ 日本語 😀 ½ —', '"e\u0301 ☺ 日本語 😀 ½ —"'],
])('%j', (text, quoted) => {
  expect(goQuote(text)).toBe(quoted);
});

test('unquoting gives back any well-formed text', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyChar }), (text) => {
      expect(unquote(goQuote(text))).toBe(text);
    }),
    { numRuns: 1000 },
  );
});

function unquote(quoted: string): string {
  const short: Record<string, string> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
  return quoted
    .slice(1, -1)
    .replace(/\\(?:x(..)|u(....)|U(.{8})|(.))/g, (_, x?: string, u?: string, long?: string, char = '') => {
      const hex = x ?? u ?? long;
      return hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : (short[char] ?? char);
    });
}
