import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createInitFrameDecoder,
  encodeInitFrame,
  encodeStart,
  type InitFrame,
  maxPayloadBytes,
  type StartRequest,
  toInit,
} from './init-frames.ts';

const request: StartRequest = {
  argv: ['true'],
  directory: '/',
  environment: {},
  hasInput: false,
  creditBytes: 0,
  limits: [],
};

const byte = fc.integer({ min: 0, max: 255 });
const frame = fc.record({
  type: byte,
  id: fc.integer({ min: 0, max: 0xffff_ffff }),
  detail: byte,
  payload: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
});
const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0') && value.isWellFormed());

/** Cuts the bytes at these positions, given in any order. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const inside = cuts.map((position) => position % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...inside].map((from, index) => bytes.subarray(from, inside[index] ?? bytes.length));
}

function decode(chunks: readonly Buffer[]): InitFrame[] {
  const frames: InitFrame[] = [];
  const decoder = createInitFrameDecoder((decoded) => frames.push(decoded));
  for (const chunk of chunks) decoder(chunk);
  return frames;
}

/** Decodes a start request as `wire_parse_start` does. */
function parseStart(payload: Buffer) {
  const strings = payload.subarray(80).toString().split('\0');
  const [argumentCount, variableCount] = [payload.readUInt16LE(12), payload.readUInt16LE(14)];
  return {
    flags: payload.readUInt32LE(0),
    window: [payload.readUInt16LE(4), payload.readUInt16LE(6)],
    creditBytes: payload.readUInt32LE(8),
    limits: Array.from({ length: 8 }, (_, index) => payload.readBigUInt64LE(16 + 8 * index)),
    directory: strings[0],
    argv: strings.slice(1, 1 + argumentCount),
    variables: strings.slice(1 + argumentCount, 1 + argumentCount + variableCount),
    rest: strings.slice(1 + argumentCount + variableCount),
  };
}

test('frames are decoded as they were encoded, however the stream was cut', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 30 }), (frames, cuts) => {
      const bytes = Buffer.concat(
        frames.map(({ type, id, detail, payload }) => encodeInitFrame(type, id, detail, payload)),
      );
      expect(decode(cut(bytes, cuts))).toEqual(frames);
    }),
  );
});

test('frames are decoded from single bytes, and only when they are complete', () => {
  const bytes = encodeInitFrame(66, 7, 1, Buffer.from('output'));
  const single = [...bytes].map((value) => Buffer.from([value]));
  expect(decode(single.slice(0, -1))).toEqual([]);
  expect(decode(single)).toEqual([{ type: 66, id: 7, detail: 1, payload: Buffer.from('output') }]);
});

test('the largest frame of an init is accepted, and one more byte is refused before it arrives', () => {
  expect(decode([encodeInitFrame(66, 1, 1, Buffer.alloc(64 * 1024))])).toHaveLength(1);
  const header = encodeInitFrame(66, 1, 1, Buffer.alloc(64 * 1024 + 1)).subarray(0, 12);
  expect(() => decode([header])).toThrow(RangeError);
});

test('a decoder throws for every impossible size, after the frames before it', () => {
  const size = fc.integer({ min: 64 * 1024 + 1, max: 0xffff_ffff });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 3 }), size, fc.array(fc.nat(), { maxLength: 5 }), (before, bad, cuts) => {
      const header = Buffer.alloc(12);
      header.writeUInt32LE(bad, 0);
      const good = before.map(({ type, id, detail, payload }) => encodeInitFrame(type, id, detail, payload));
      const frames: InitFrame[] = [];
      const decoder = createInitFrameDecoder((decoded) => frames.push(decoded));
      expect(() => cut(Buffer.concat([...good, header]), cuts).forEach(decoder)).toThrow(RangeError);
      expect(frames).toEqual(before);
    }),
  );
});

test('a start frame carries the whole request', () => {
  const arbitrary = fc.record({
    argv: fc.array(text, { minLength: 1, maxLength: 5 }),
    directory: text,
    environment: fc.dictionary(text, text, { maxKeys: 5, noNullPrototype: true }),
    hasInput: fc.boolean(),
    terminal: fc.option(fc.record({ rows: fc.nat(65_535), columns: fc.nat(65_535) }), { nil: undefined }),
    creditBytes: fc.nat(),
    limits: fc.array(fc.option(fc.maxSafeNat(), { nil: undefined }), { maxLength: 8 }),
  });
  fc.assert(
    fc.property(arbitrary, (asked) => {
      const [start] = decode([encodeStart(9, asked)]);
      expect(start).toMatchObject({ type: toInit.start, id: 9, detail: 0 });
      expect(parseStart(start!.payload)).toEqual({
        flags: (asked.terminal ? 1 : 0) + (asked.hasInput ? 2 : 0),
        window: [asked.terminal?.rows ?? 0, asked.terminal?.columns ?? 0],
        creditBytes: asked.creditBytes,
        limits: Array.from({ length: 8 }, (_, index) => BigInt(asked.limits[index] ?? 0xffff_ffff_ffff_ffffn)),
        directory: asked.directory,
        argv: asked.argv,
        variables: Object.entries(asked.environment).map(([name, value]) => `${name}=${value}`),
        rest: [''],
      });
    }),
  );
});

test.each([
  ['a NUL in the program', { argv: ['a\0b'] }],
  ['a NUL in an argument', { argv: ['a', '\0'] }],
  ['a NUL in the directory', { directory: '/\0' }],
  ['a NUL in the name of a variable', { environment: { 'A\0B': '' } }],
  ['a NUL in the value of a variable', { environment: { A: 'x\0' } }],
  ['more bytes than a frame holds', { argv: ['a', 'x'.repeat(maxPayloadBytes)] }],
  ['more bytes than a frame holds, in few characters', { argv: ['a', '€'.repeat(maxPayloadBytes / 3)] }],
  ['more arguments than can be counted', { argv: Array.from({ length: 65_536 }, () => 'a') }],
  ['a terminal larger than can be told', { terminal: { rows: 65_536, columns: 80 } }],
  ['a credit below zero', { creditBytes: -1 }],
  ['a limit that is no number', { limits: [Number.NaN] }],
  ['a limit below zero', { limits: [-1] }],
])('refuses %s', (_, change) => {
  expect(() => encodeStart(1, { ...request, ...change })).toThrow(RangeError);
});

test('takes as many bytes as a frame holds, and no more', () => {
  // The header, then `/`, `a` and the long argument, each with its NUL.
  const room = maxPayloadBytes - 80 - 2 - 2 - 1;
  const withLength = (length: number) => encodeStart(1, { ...request, argv: ['a', 'x'.repeat(length)] });
  expect(withLength(room)).toHaveLength(12 + maxPayloadBytes);
  expect(() => withLength(room + 1)).toThrow(RangeError);
});
