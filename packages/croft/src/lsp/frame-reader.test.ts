import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFrameReader, maxFrameBytes, toFrame } from './frame-reader.ts';

function readAll(chunks: readonly Buffer[]) {
  const [bodies, faults]: [string[], string[]] = [[], []];
  const read = createFrameReader({
    onFrame: (body) => void bodies.push(body.toString()),
    onFault: (what) => void faults.push(what),
  });
  for (const chunk of chunks) read(chunk);
  return { bodies, faults };
}

test('messages are decoded as they were sent, however they are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 5 }),
      fc.integer({ min: 1, max: 40 }),
      (texts, size) => {
        const bytes = Buffer.concat(texts.map(toFrame));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        expect(readAll(chunks)).toEqual({ bodies: texts.map((text) => JSON.stringify(text)), faults: [] });
      },
    ),
  );
});

test('other headers are ignored', () => {
  const bytes = Buffer.from('Content-Type: x\r\ncontent-length: 2\r\n\r\n{}');
  expect(readAll([bytes])).toEqual({ bodies: ['{}'], faults: [] });
});

test.each([
  ['no length', 'Content-Type: x\r\n\r\n{}'],
  ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
  ['a negative length', 'Content-Length: -2\r\n\r\n{}'],
  ['a length that is too large', `Content-Length: ${maxFrameBytes + 1}\r\n\r\n{}`],
  ['a header without end', 'x'.repeat(5000)],
])('%s is reported once, and nothing after it is read', (_, text) => {
  const { bodies, faults } = readAll([Buffer.from(text), toFrame({})]);
  expect(bodies).toEqual([]);
  expect(faults).toHaveLength(1);
});

test('any bytes are read without an exception', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 200 })),
      (chunks) => void readAll(chunks.map((one) => Buffer.from(one))),
    ),
  );
});
