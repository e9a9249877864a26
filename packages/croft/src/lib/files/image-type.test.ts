import fc from 'fast-check';
import { expect, test } from 'vitest';
import { imageType } from './image-type.ts';

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

test('reads only its own part of a larger buffer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      const view = new Uint8Array([0, ...bytes, 0]).subarray(1, -1);
      expect(imageType(view)).toBe(imageType(bytes));
    }),
  );
});
