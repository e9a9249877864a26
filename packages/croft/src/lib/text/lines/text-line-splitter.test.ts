import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../../test/support/expect-cheap.ts';
import { createTextLineSplitter } from './text-line-splitter.ts';

function split(chunks: (string | Uint8Array)[], maxLineBytes = 100): string[] {
  const splitter = createTextLineSplitter({ maxLineBytes });
  return [...chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk))), ...splitter.flush()];
}

test.each([
  ['nothing', [], []],
  ['an empty chunk', [''], []],
  ['lines', ['a\nb\n'], ['a', 'b']],
  ['a last line without end', ['a\nb'], ['a', 'b']],
  ['empty lines', ['\n\n'], ['', '']],
  ['CRLF, also over chunks', ['a\r\nb\r', '\nc'], ['a', 'b', 'c']],
  ['a CR inside', ['a\rb\n'], ['a\rb']],
  ['a line over many chunks', ['a', 'b', '', 'c\nd'], ['abc', 'd']],
  ['a character over chunks', [Buffer.from([0xc3]), Buffer.from([0xa9, 10])], ['é']],
])('%s', (_, chunks, lines) => {
  expect(split(chunks)).toEqual(lines);
});

test.each([
  ['as long as allowed', ['abcd\nx'], ['abcd', 'x']],
  ['as long as allowed, with CRLF', ['abcd\r\nx'], ['abcd', 'x']],
  ['too long', ['abcdefgh\nx\n'], ['abcd', 'x']],
  ['too long by its CR', ['abcd\re\nx'], ['abcd', 'x']],
  ['too long, over chunks', ['abc', 'def', 'ghi', 'j\nx'], ['abcd', 'x']],
  ['too long and last', ['abcdefgh'], ['abcd']],
  ['cut within a character', ['abcé\n'], ['abc']],
  ['cut within a long character', ['a😀\n'], ['a']],
])('a line of at most four bytes: %s', (_, chunks, lines) => {
  expect(split(chunks, 4)).toEqual(lines);
});

test('a splitter goes on after flush', () => {
  const splitter = createTextLineSplitter({ maxLineBytes: 10 });
  expect(splitter.push(Buffer.from('a'))).toEqual([]);
  expect(splitter.flush()).toEqual(['a']);
  expect(splitter.flush()).toEqual([]);
  expect(splitter.push(Buffer.from('b\n'))).toEqual(['b']);
});

test('agrees with splitting the whole text, whatever the chunks', () => {
  const piece = fc.constantFrom('a', 'é', '😀', '\n', '\r\n', '\r', 'word', '');
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(20)), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''));
      const positions = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const chunks = positions.slice(1).map((end, index) => bytes.subarray(positions[index], end));
      const expected = pieces.join('').split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(split(chunks)).toEqual(expected.map((line) => line.replace(/\r$/, '')));
    }),
    { numRuns: 2000 },
  );
});

test('a long line is cut to whole characters of its beginning', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, maxLineBytes) => {
      const line = text.replaceAll('\n', '').replaceAll('\r', '');
      const [shown = ''] = split([`${line}\n`], maxLineBytes);
      expect(line.startsWith(shown)).toBe(true);
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(maxLineBytes);
      expect(Buffer.byteLength(shown)).toBeGreaterThan(Math.min(Buffer.byteLength(line), maxLineBytes) - 4);
    }),
  );
});

test('a line without end takes bounded memory', () => {
  const splitter = createTextLineSplitter({ maxLineBytes: 64 * 1024 });
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const before = process.memoryUsage().arrayBuffers;
  for (let index = 0; index < 2000; index++) expect(splitter.push(chunk)).toEqual([]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  expect(splitter.flush()).toEqual(['x'.repeat(64 * 1024)]);
});

test.each([
  ['newlines', Buffer.alloc(1024 * 1024, '\n'), 1024 * 1024],
  ['short lines', Buffer.alloc(1024 * 1024, 'ab\n'), 1024 * 1024],
  ['one line, byte by byte', Buffer.alloc(256 * 1024, 'x'), 1],
])('a megabyte of %s takes little time', async (_, bytes, chunkBytes) => {
  const run = () => {
    const splitter = createTextLineSplitter({ maxLineBytes: 128 * 1024 });
    for (let at = 0; at < bytes.length; at += chunkBytes) splitter.push(bytes.subarray(at, at + chunkBytes));
    splitter.flush();
  };
  await expectCheap(run, 40);
});
