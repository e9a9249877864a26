import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyTreeHash } from '../../src/core/history/ports/tree.ts';
import { decodeListing, encodeListing } from '../../src/core/history/trees/listing-codec.ts';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { bytesFromPath, pathFromBytes } from '../../src/lib/files/path-bytes.ts';

const byte = fc.integer({ min: 1, max: 255 }).filter((code) => code !== 47);
const name = fc
  .oneof(
    fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => [...bytes]),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }).map((text) => [...Buffer.from(text)]),
    fc.array(byte, { minLength: 1, maxLength: 255 }),
    fc.constantFrom(...['\\n', '\n', '\\', ' ', 'a b', '-rf', '\\\\n'].map((text) => [...Buffer.from(text)])),
  )
  .map((codes) => Buffer.from(codes.filter((code) => code !== 0 && code !== 47)))
  .filter((bytes) => bytes.length > 0 && !['.', '..'].includes(bytes.toString()))
  .map(pathFromBytes);
const hash = fc.nat().map((number) => sha256(String(number)));
const entry = fc.oneof(
  fc.record({
    kind: fc.constant('file' as const),
    name,
    mode: fc.nat(0o777),
    size: fc.nat(Number.MAX_SAFE_INTEGER),
    hash,
  }),
  fc.record({ kind: fc.constant('link' as const), name, mode: fc.constant(0o777), size: fc.nat(4096), hash }),
  fc.record({ kind: fc.constant('directory' as const), name, mode: fc.nat(0o777), size: fc.constant(0), hash }),
);
const entries = fc.uniqueArray(entry, { selector: (each) => each.name, maxLength: 20 });

test('a listing can be read back, whatever its names, and whatever order it was made in', () => {
  fc.assert(
    fc.property(entries, (all) => {
      const bytes = encodeListing(all);
      expect(encodeListing(all.toReversed())).toEqual(bytes);
      const inOrder = all.toSorted((one, other) => Buffer.compare(bytesFromPath(one.name), bytesFromPath(other.name)));
      expect(decodeListing(bytes)).toEqual(inOrder);
    }),
  );
});

test('bytes that are no listing are refused, or decode to a listing that encodes to the same bytes', () => {
  const spoil = (all: Parameters<typeof encodeListing>[0], at: number, code: number) => {
    const bytes = encodeListing(all);
    if (bytes.length > 0) bytes[at % bytes.length] = code;
    return bytes;
  };
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(entries, fc.nat(), fc.nat(255)).map((all) => spoil(...all)),
        fc.uint8Array(),
      ),
      (bytes) => {
        let found: ReturnType<typeof decodeListing>;
        try {
          found = decodeListing(bytes);
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'E_STORAGE_FAILED' });
          return;
        }
        expect(encodeListing(found)).toEqual(Buffer.from(bytes));
      },
    ),
  );
});

test.each([
  ['a name that climbs', '..'],
  ['a name that stays', '.'],
  ['a path', 'a/b'],
  ['NUL', 'a\0b'],
  ['no name', ''],
  ['too long', 'n'.repeat(256)],
  ['an escape that is none', 'a\\b'],
])('a listing with %s is refused', (_, text) => {
  const line = (shown: string) => Buffer.from(`f644 1 ${sha256('x')} ${shown}\n`, 'latin1');
  expect(decodeListing(line('fine'))).toHaveLength(1);
  expect(() => decodeListing(line(text))).toThrow(expect.objectContaining({ code: 'E_STORAGE_FAILED' }));
});

test.each([
  ['twice the same', (line: string) => line + line],
  ['no end of line', (line: string) => line.trimEnd()],
  ['another spelling of a mode', (line: string) => line.replace('f644', 'f0644')],
  ['another spelling of a size', (line: string) => line.replace(' 1 ', ' 01 ')],
  ['a directory with a size', (line: string) => line.replace('f644', 'd755')],
  ['a link with a mode', (line: string) => line.replace('f644', 'l644')],
  ['a hash in capitals', (line: string) => line.replace(sha256('x'), sha256('x').toUpperCase())],
])('a listing with %s is refused', (_, change) => {
  const line = `f644 1 ${sha256('x')} name\n`;
  expect(() => decodeListing(Buffer.from(change(line)))).toThrow(expect.objectContaining({ code: 'E_STORAGE_FAILED' }));
});

test('the empty listing is the empty tree', () => {
  expect(encodeListing([])).toHaveLength(0);
  expect(sha256(encodeListing([]))).toBe(emptyTreeHash);
  expect(decodeListing(Buffer.alloc(0))).toEqual([]);
});
