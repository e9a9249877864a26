import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countBytes, replaceBytes } from './replace-bytes.ts';

const all = { all: true };

test('matches do not overlap', () => {
  expect(countBytes(Buffer.from('aaaaa'), Buffer.from('aa'))).toBe(2);
  expect(replaceBytes(Buffer.from('aaaaa'), Buffer.from('aa'), Buffer.from('b'), all).bytes.toString()).toBe('bba');
});

test('an empty needle is found nowhere', () => {
  const haystack = Buffer.from('abc');
  expect(countBytes(haystack, Buffer.alloc(0))).toBe(0);
  expect(replaceBytes(haystack, Buffer.alloc(0), Buffer.from('x'), all)).toEqual({ bytes: haystack, count: 0 });
});

test('only the first match is replaced unless all are asked for', () => {
  const replaced = replaceBytes(Buffer.from('a-a-a'), Buffer.from('a'), Buffer.from('bb'), { all: false });
  expect({ ...replaced, bytes: replaced.bytes.toString() }).toEqual({ bytes: 'bb-a-a', count: 1 });
});

test('a dollar sign in the replacement means itself', () => {
  const { bytes } = replaceBytes(Buffer.from('price: X'), Buffer.from('X'), Buffer.from("$& $1 $$ $' $`"), all);
  expect(bytes.toString()).toBe("price: $& $1 $$ $' $`");
});

test('invalid UTF-8 around a match survives', () => {
  const haystack = Buffer.from([0xff, 0x00, 0x61, 0xc3]);
  const { bytes } = replaceBytes(haystack, Buffer.from('a'), Buffer.from('é'), all);
  expect([...bytes]).toEqual([0xff, 0x00, 0xc3, 0xa9, 0xc3]);
});

test('equals the string version for valid text', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀', '$'), maxLength: 30 });
  const needle = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(text, needle, text, fc.boolean(), (haystack, old, now, isAll) => {
      const count = haystack.split(old).length - 1;
      const expected = isAll ? haystack.replaceAll(old, () => now) : haystack.replace(old, () => now);
      const replaced = replaceBytes(Buffer.from(haystack), Buffer.from(old), Buffer.from(now), { all: isAll });
      expect(replaced.bytes.toString()).toBe(expected);
      expect(replaced.count).toBe(isAll ? count : Math.min(1, count));
      expect(countBytes(Buffer.from(haystack), Buffer.from(old))).toBe(count);
    }),
    { numRuns: 1000 },
  );
});

test('bytes outside the matches are unchanged', () => {
  const byte = fc.constantFrom(0x00, 0x61, 0xc3, 0xff);
  const buffer = (minLength: number) => fc.array(byte, { minLength, maxLength: 20 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(buffer(0), buffer(1), buffer(0), (haystack, needle, replacement) => {
      const original = Buffer.from(haystack);
      // One character a byte, so a string can stand in for bytes.
      const expected = haystack
        .toString('latin1')
        .split(needle.toString('latin1'))
        .join(replacement.toString('latin1'));
      expect(replaceBytes(haystack, needle, replacement, all).bytes.toString('latin1')).toBe(expected);
      expect(haystack).toEqual(original);
    }),
    { numRuns: 1000 },
  );
});
