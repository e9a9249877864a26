import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addSpan, replaceSpans, type Span } from './spans.ts';

const show = (name: string) => `<${name}>`;

test.each([
  ['none', [], 'abcdef'],
  ['one', [{ start: 1, end: 3, name: 'x' }], 'a<x>def'],
  ['all', [{ start: 0, end: 6, name: 'x' }], '<x>'],
  [
    'out of order',
    [
      { start: 4, end: 5, name: 'x' },
      { start: 0, end: 2, name: 'y' },
    ],
    '<y>cd<x>f',
  ],
  [
    'overlapping: the first in the list names them',
    [
      { start: 2, end: 5, name: 'x' },
      { start: 1, end: 3, name: 'y' },
    ],
    'a<x>f',
  ],
  [
    'one within another',
    [
      { start: 1, end: 5, name: 'x' },
      { start: 2, end: 3, name: 'y' },
    ],
    'a<x>f',
  ],
  [
    'touching, of one name',
    [
      { start: 1, end: 3, name: 'x' },
      { start: 3, end: 5, name: 'x' },
    ],
    'a<x>f',
  ],
  [
    'touching, of two names',
    [
      { start: 1, end: 3, name: 'x' },
      { start: 3, end: 5, name: 'y' },
    ],
    'a<x><y>f',
  ],
])('%s', (_, spans: Span[], text) => {
  expect(replaceSpans('abcdef', spans, show)).toBe(text);
});

const span = fc
  .tuple(fc.nat(40), fc.integer({ min: 1, max: 10 }), fc.constantFrom('x', 'y'))
  .map(([start, length, name]) => ({ start, end: Math.min(50, start + length), name }));

test('text outside of spans stays, and text in spans is replaced', () => {
  const text = Array.from({ length: 50 }, (_, index) => String.fromCharCode(0x100 + index)).join('');
  fc.assert(
    fc.property(fc.array(span), (spans) => {
      const kept = [...text].filter((_, at) => !spans.some(({ start, end }) => at >= start && at < end));
      expect(replaceSpans(text, spans, show).replace(/<.>/g, '')).toBe(kept.join(''));
    }),
  );
});

test('adding spans in order gives the same as replacing all', () => {
  const text = 'abcdefghij'.repeat(5);
  fc.assert(
    fc.property(fc.array(span), (spans) => {
      const sorted = spans.toSorted((a, b) => a.start - b.start);
      const added: Span[] = [];
      for (const each of sorted) addSpan(added, { ...each });
      expect(replaceSpans(text, added, show)).toBe(replaceSpans(text, sorted, show));
    }),
  );
});
