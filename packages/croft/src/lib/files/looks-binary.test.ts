import fc from 'fast-check';
import { expect, test } from 'vitest';
import { looksBinary } from './looks-binary.ts';

test.each([
  [false, 'nothing', Buffer.alloc(0)],
  [false, 'text', Buffer.from('héllo\n')],
  [false, 'invalid UTF-8', Buffer.from([0x61, 0xff, 0xfe])],
  [false, 'a UTF-8 byte order mark', Buffer.from('\ufefftext')],
  [true, 'a NUL', Buffer.from('a\0b')],
  [false, 'UTF-16 LE', Buffer.from([0xff, 0xfe, 0x61, 0])],
  [false, 'UTF-16 BE', Buffer.from([0xfe, 0xff, 0, 0x61])],
  [true, 'UTF-16 without a byte order mark', Buffer.from([0x61, 0])],
  [true, 'UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
  [true, 'a byte order mark and other bytes', Buffer.from([0xff, 0xfe, 1, 2, 0, 0, 3])],
  [true, 'a NUL at byte 8,000', Buffer.concat([Buffer.alloc(7999, 'a'), Buffer.alloc(1)])],
  [false, 'a NUL after byte 8,000', Buffer.concat([Buffer.alloc(8000, 'a'), Buffer.alloc(1)])],
])('binary is %s for %s', (binary, _, bytes) => {
  expect(looksBinary(bytes)).toBe(binary);
});

test('reads only its own part of a larger buffer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      const view = new Uint8Array([0, ...bytes, 0]).subarray(1, -1);
      expect(looksBinary(view)).toBe(looksBinary(bytes));
    }),
  );
});
