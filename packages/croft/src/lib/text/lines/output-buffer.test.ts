import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../../test/support/expect-cheap.ts';
import { createOutputBuffer } from './output-buffer.ts';

function bufferOf(text: string, headBytes: number, tailBytes: number) {
  const buffer = createOutputBuffer({ headBytes, tailBytes });
  buffer.append(Buffer.from(text));
  return buffer;
}

test.each([
  ['all of a short stream', 'abcdef', 3, 3, 'abcdef'],
  ['nothing of none', '', 3, 3, ''],
  ['head and tail of a long one', 'abcdefgh', 3, 3, 'abc\n... (output truncated, 2 bytes elided)\nfgh'],
  ['the head alone', 'abcd', 2, 0, 'ab\n... (output truncated, 2 bytes elided)\n'],
  ['the tail alone', 'abcd', 0, 2, '\n... (output truncated, 2 bytes elided)\ncd'],
  ['a character over the join of head and tail', 'aéb', 2, 2, 'aéb'],
  ['no half characters at the cuts', '€€€€', 4, 4, '€\n... (output truncated, 6 bytes elided)\n€'],
  ['no half characters at the cuts', '😀x😀', 3, 3, '\n... (output truncated, 9 bytes elided)\n'],
])('keeps %s', (_, text, headBytes, tailBytes, shown) => {
  expect(bufferOf(text, headBytes, tailBytes).toText()).toBe(shown);
});

test('reading goes on from a cursor, and lost bytes are counted', () => {
  const buffer = bufferOf('abc', 2, 2);
  const first = buffer.since(0);
  expect(first).toMatchObject({ cursor: 3, missed: 0 });
  expect(first.bytes.toString()).toBe('abc');
  expect(buffer.since(3)).toMatchObject({ cursor: 3, missed: 0, bytes: Buffer.alloc(0) });

  buffer.append(Buffer.from('defgh'));
  expect(buffer).toMatchObject({ total: 8, dropped: 4 });
  expect(buffer.since(3)).toMatchObject({ cursor: 8, missed: 3, missedAt: 0, bytes: Buffer.from('gh') });
  expect(buffer.since(1)).toMatchObject({ cursor: 8, missed: 4, missedAt: 1, bytes: Buffer.from('bgh') });
  expect(buffer.since(7)).toMatchObject({ cursor: 8, missed: 0, bytes: Buffer.from('h') });
});

test.each([-5, Number.NaN, 1e9, 2.5, Number.POSITIVE_INFINITY])('a cursor of %d is handled', (cursor) => {
  const { cursor: next, bytes } = bufferOf('abcd', 8, 8).since(cursor);
  expect(next).toBe(4);
  expect('abcd'.endsWith(bytes.toString())).toBe(true);
});

test('an incomplete character is left for the next read', () => {
  const buffer = createOutputBuffer({ headBytes: 100, tailBytes: 100 });
  const bytes = Buffer.from('a😀b');
  buffer.append(bytes.subarray(0, 3));
  expect(buffer.textSince(0, { final: false })).toEqual({ text: 'a', cursor: 1, missed: 0 });
  expect(buffer.textSince(1, { final: true })).toEqual({ text: '\ufffd', cursor: 3, missed: 0 });
  buffer.append(bytes.subarray(3));
  expect(buffer.textSince(1, { final: false })).toEqual({ text: '😀b', cursor: 6, missed: 0 });
});

test('appended bytes are copied', () => {
  const buffer = createOutputBuffer({ headBytes: 2, tailBytes: 2 });
  const reused = Buffer.from('abcd');
  buffer.append(reused);
  reused.fill('x');
  expect(buffer.toText()).toBe('abcd');
});

const sizes = fc.record({ headBytes: fc.nat(12), tailBytes: fc.nat(12) });
const chunks = fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 12 });

test('agrees with a buffer that keeps everything', () => {
  fc.assert(
    fc.property(sizes, chunks, fc.nat(200), (size, parts, cursor) => {
      const buffer = createOutputBuffer(size);
      for (const part of parts) buffer.append(part);
      const all = Buffer.concat(parts);
      const headEnd = Math.min(size.headBytes, all.length);
      const tailStart = Math.max(headEnd, all.length - size.tailBytes);
      const isHeld = (at: number) => at < headEnd || at >= tailStart;
      const wanted = [...all.keys()].filter((at) => at >= cursor);

      expect(buffer).toMatchObject({ total: all.length, dropped: tailStart - headEnd });
      expect(buffer.since(cursor)).toMatchObject({
        bytes: Buffer.from(wanted.filter(isHeld).map((at) => all[at] ?? 0)),
        cursor: all.length,
        missed: wanted.filter((at) => !isHeld(at)).length,
      });
    }),
    { numRuns: 3000 },
  );
});

test('no byte is lost or moved while its memory grows', () => {
  const chunkBytes = fc.constantFrom(1, 511, 512, 1024, 2048, 5000);
  fc.assert(
    fc.property(fc.constantFrom(0, 1024, 1500), fc.array(chunkBytes, { maxLength: 12 }), (headBytes, lengths) => {
      const buffer = createOutputBuffer({ headBytes, tailBytes: 8000 });
      const parts = lengths.map((length, index) => Buffer.alloc(length, index + 1));
      for (const part of parts) buffer.append(part);
      const all = Buffer.concat(parts);
      const tailStart = Math.max(Math.min(headBytes, all.length), all.length - 8000);
      const held = Buffer.concat([all.subarray(0, headBytes), all.subarray(tailStart)]);
      expect(buffer.since(0).bytes.equals(held)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('reading during writes gives back the whole text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 5 }), (text, step) => {
      const bytes = Buffer.from(text);
      const buffer = createOutputBuffer({ headBytes: 4, tailBytes: 16 });
      let cursor = 0;
      let seen = '';
      for (let at = 0; at < bytes.length; at += step) {
        buffer.append(bytes.subarray(at, at + step));
        const part = buffer.textSince(cursor, { final: false });
        cursor = part.cursor;
        seen += part.text;
      }
      expect(seen).toBe(text);
    }),
  );
});

test('half a gigabyte passes through a megabyte of memory', async () => {
  const buffer = createOutputBuffer({ headBytes: 64 * 1024, tailBytes: 1024 * 1024 });
  const chunk = Buffer.alloc(64 * 1024, 'y\n');
  const before = process.memoryUsage().arrayBuffers;
  for (let index = 0; index < 8192; index++) buffer.append(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * 1024 * 1024);
  expect(buffer.total).toBe(512 * 1024 * 1024);
  await expectCheap(() => {
    for (let index = 0; index < 8192; index++) buffer.append(chunk);
  }, 40);
});

test('a megabyte byte by byte takes little time', async () => {
  const buffer = createOutputBuffer({ headBytes: 1024, tailBytes: 100_000 });
  const byte = Buffer.from('x');
  const appendAll = () => {
    for (let index = 0; index < 1024 * 1024; index++) buffer.append(byte);
  };
  await expectCheap(appendAll, 40);
});
