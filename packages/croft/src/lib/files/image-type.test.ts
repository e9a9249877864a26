import fc from 'fast-check';
import { expect, test } from 'vitest';
import { imageType, looksBinary } from './image-type.ts';

const bmp = Buffer.concat([Buffer.from('BM'), Buffer.alloc(12), Buffer.from([40, 0, 0, 0])]);

test.each([
  ['image/png', Buffer.from('\x89PNG\r\n\x1a\n rest', 'latin1')],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ['image/gif', Buffer.from('GIF87a…')],
  ['image/gif', Buffer.from('GIF89a…')],
  ['image/webp', Buffer.from('RIFF\x01\x02\x03\x04WEBPVP8 ', 'latin1')],
  ['image/bmp', bmp],
  ['image/png', new Uint8Array(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))],
])('recognises %s by its first bytes', (type, bytes) => {
  expect(imageType(bytes)).toBe(type);
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a cut signature', Buffer.from('\x89PNG', 'latin1')],
  ['a wave file', Buffer.from('RIFF\x01\x02\x03\x04WAVEfmt ', 'latin1')],
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['text that begins with BM', Buffer.from('BMW makes cars and motorcycles.')],
  ['a BMP header of unknown size', Buffer.concat([Buffer.from('BM'), Buffer.alloc(20)])],
  ['a cut BMP', bmp.subarray(0, 17)],
  ['text about GIF', Buffer.from('GIF90a')],
])('does not take %s for an image', (_, bytes) => {
  expect(imageType(bytes)).toBeUndefined();
});

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
      expect(imageType(view)).toBe(imageType(bytes));
    }),
  );
});
