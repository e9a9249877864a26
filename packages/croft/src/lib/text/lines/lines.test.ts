import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countLines, decodeText, sliceLines } from './lines.ts';

const anyChar = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code).toWellFormed());

test.each([
  ['', 0],
  ['a', 1],
  ['a\n', 1],
  ['a\nb', 2],
  ['\n', 1],
  ['\n\n', 2],
  ['a\r\nb\r\n', 2],
])('%j has %i lines', (text, lines) => {
  expect(countLines(Buffer.from(text))).toBe(lines);
});

test.each([
  ['the whole', 1, 10, 'a\nbé\n\nd', 4],
  ['the middle, with its line endings', 2, 2, 'bé\n\n', 2],
  ['a last line without newline', 4, 1, 'd', 1],
  ['nothing past the end', 5, 3, '', 0],
  ['nothing when no lines are asked for', 2, 0, '', 0],
])('slices %s', (_, firstLine, maxLines, text, lines) => {
  const bytes = Buffer.from('a\nbé\n\nd');
  const slice = sliceLines(bytes, firstLine, maxLines);
  expect(bytes.toString('utf8', slice.start, slice.end)).toBe(text);
  expect(slice.lines).toBe(lines);
});

const someBytes = fc.array(fc.constantFrom(10, 13, 97, 98, 0xc3, 0xff), { maxLength: 40 });

test('agrees with a naive split, on a view into a larger buffer too', () => {
  fc.assert(
    fc.property(someBytes, fc.integer({ min: 1, max: 12 }), fc.nat(12), (values, firstLine, maxLines) => {
      const naive = splitNaively(values);
      const expected = naive.slice(firstLine - 1, firstLine - 1 + maxLines);
      const view = new Uint8Array([10, 10, ...values, 10]).subarray(2, -1);

      const { start, end, lines } = sliceLines(view, firstLine, maxLines);
      expect([...view.subarray(start, end)]).toEqual(expected.flat());
      expect(lines).toBe(expected.length);
      expect(countLines(view)).toBe(naive.length);
    }),
    { numRuns: 1000 },
  );
});

test('decodes valid text without loss, and keeps a byte order mark', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyChar }), (text) => {
      expect(decodeText(new TextEncoder().encode(text))).toEqual({ text, lossy: false });
    }),
  );
  expect(decodeText(Buffer.from('\ufeffa'))).toEqual({ text: '\ufeffa', lossy: false });
  expect(decodeText(Buffer.from('\ufffd'))).toEqual({ text: '\ufffd', lossy: false });
});

test('reports bytes that are not UTF-8', () => {
  expect(decodeText(Buffer.from([0x61, 0xff, 0x62]))).toEqual({ text: 'a\ufffdb', lossy: true });
  expect(decodeText(Buffer.from('é').subarray(0, 1))).toEqual({ text: '\ufffd', lossy: true });
});

function splitNaively(values: number[]): number[][] {
  const lines: number[][] = [];
  let line: number[] = [];
  for (const value of values) {
    line.push(value);
    if (value !== 10) continue;
    lines.push(line);
    line = [];
  }
  return line.length > 0 ? [...lines, line] : lines;
}
