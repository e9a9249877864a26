import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesFromPath, pathFromBytes } from './path-bytes.ts';

/** Half of the bytes are nearly text, where mistakes are most likely. */
const bytes = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.string({ unit: 'binary', maxLength: 4 }).map((text) => Buffer.from(text)),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }).map((text) => Buffer.from(text).subarray(0, -1)),
      fc.constantFrom(
        [0xed, 0xa0, 0x80],
        [0xed, 0xb2, 0x80],
        [0xc0, 0x80],
        [0xf4, 0x90, 0x80, 0x80],
        [0xef, 0xbb, 0xbf],
      ),
    ),
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));

test('every name has its own path, and the path gives back the name', () => {
  fc.assert(
    fc.property(bytes, (name) => bytesFromPath(pathFromBytes(name)).equals(name)),
    { numRuns: 2000 },
  );
});

test('valid UTF-8 stays the same text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(pathFromBytes(Buffer.from(text))).toBe(text);
      expect(bytesFromPath(text)).toEqual(Buffer.from(text));
    }),
  );
});

test('the names of a path join to the path of the names', () => {
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      const whole = Buffer.concat([one, Buffer.from('/'), other]);
      expect(pathFromBytes(whole)).toBe(`${pathFromBytes(one)}/${pathFromBytes(other)}`);
    }),
  );
});

test.each([
  ['a byte that is no text', [0x61, 0xff, 0x62], 'a\udcffb'],
  ['half a character', [0xe2, 0x82], '\udce2\udc82'],
  ['what would be half a pair', [0xed, 0xb2, 0x80], '\udced\udcb2\udc80'],
  ['a byte right after a pair', [...Buffer.from('😀'), 0x80], '😀\udc80'],
])('%s becomes one lone surrogate per byte', (_, name, path) => {
  expect(pathFromBytes(Buffer.from(name))).toBe(path);
});

test.each(['\ud800', 'a\udc7f', '\udd00', '\udcff\ud83d'])('%j is not the path of any name', (path) => {
  expect(() => bytesFromPath(path)).toThrow(RangeError);
});
