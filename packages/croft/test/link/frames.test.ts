import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeFrames,
  encodeFrame,
  type FrameType,
  frameTypes,
  headerBytes,
  type LinkFrame,
  ProtocolFault,
  stampFrame,
} from '../../src/link/transport/frames.ts';
import { maxDataBytes, maxJsonBytes } from '../../src/link/transport/link-limits.ts';

const loose: readonly FrameType[] = [frameTypes.ack, frameTypes.close];
const channelled: readonly FrameType[] = [frameTypes.data, frameTypes.end, frameTypes.break, frameTypes.credit];
const bare: readonly FrameType[] = [
  frameTypes.cancel,
  frameTypes.done,
  frameTypes.end,
  frameTypes.break,
  frameTypes.ack,
];
const number48 = fc.integer({ min: 1, max: 2 ** 48 - 1 });

const rightFrame: fc.Arbitrary<LinkFrame> = fc.constantFrom(...Object.values(frameTypes)).chain((type) =>
  fc.record({
    type: fc.constant(type),
    channel: channelled.includes(type) ? fc.integer({ min: 0, max: 7 }) : fc.constant(0),
    sequence: loose.includes(type) ? fc.constant(0) : number48,
    ack: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    call: loose.includes(type) ? fc.constant(0) : number48,
    payload: fc.uint8Array(bare.includes(type) ? { maxLength: 0 } : sizesOf(type)).map((bytes) => Buffer.from(bytes)),
  }),
);

function sizesOf(type: FrameType) {
  return type === frameTypes.credit ? { minLength: 4, maxLength: 4 } : { minLength: 2, maxLength: 300 };
}

function encode({ type, channel, sequence, ack, call, payload }: LinkFrame): Buffer {
  return stampFrame(encodeFrame(type, call, channel, payload), sequence, ack);
}

function decode(message: Buffer): LinkFrame[] {
  const frames: LinkFrame[] = [];
  decodeFrames(message, (frame) => frames.push(frame));
  return frames;
}

test('frames are decoded as they were encoded, alone and several in a message', () => {
  fc.assert(
    fc.property(fc.array(rightFrame, { minLength: 1, maxLength: 5 }), (frames) => {
      expect(decode(Buffer.concat(frames.map(encode)))).toEqual(frames);
    }),
  );
});

test('a frame stamped again has the new numbers', () => {
  const frame = encodeFrame(frameTypes.data, 7, 3, Buffer.from('abc'));
  stampFrame(frame, 1, 2);
  expect(decode(stampFrame(frame, 9, 8))).toMatchObject([{ sequence: 9, ack: 8, call: 7, channel: 3 }]);
});

test('bytes that are no frames are a fault, and have no other effect', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      expect(() => decode(Buffer.from(bytes))).toThrow(ProtocolFault);
    }),
  );
});

test('frames with a flipped bit, cut short or extended are a fault', () => {
  fc.assert(
    fc.property(fc.array(rightFrame, { minLength: 1, maxLength: 3 }), fc.nat(), fc.nat(), (frames, position, kind) => {
      const message = Buffer.concat(frames.map(encode));
      const at = position % message.length;
      if (kind % 3 === 0) message[at]! ^= 1 << (kind % 8);
      const broken = [message, message.subarray(0, at), Buffer.concat([message, Buffer.alloc(1 + at)])][kind % 3]!;
      // Cut between two frames it is a whole number of them, and that is for the link to notice.
      const isWhole =
        kind % 3 === 1 && frames.some((_, n) => Buffer.concat(frames.slice(0, n).map(encode)).length === at);
      if (!isWhole || at === 0) expect(() => decode(broken)).toThrow(ProtocolFault);
    }),
    { numRuns: 500 },
  );
});

/** Makes a frame with a valid checksum, so that it is no transmission error. */
function forged(change: (frame: Buffer) => void, size = 4, type: FrameType = frameTypes.data): Buffer {
  const frame = encodeFrame(type, 1, 0, Buffer.alloc(size));
  change(frame);
  return stampFrame(frame, 1, 0);
}

test.each<[string, Buffer]>([
  ['nothing at all', Buffer.alloc(0)],
  ['an unknown type', forged((frame) => frame.writeUInt8(99, 8))],
  ['type 0', forged((frame) => frame.writeUInt8(0, 8))],
  ['a channel that cannot be', forged((frame) => frame.writeUInt8(8, 9))],
  ['a channel of what has none', forged((frame) => frame.writeUInt8(1, 9), 4, frameTypes.tell)],
  ['no call', forged((frame) => frame.writeUIntLE(0, 22, 6))],
  ['data without a byte', forged(() => {}, 0)],
  ['data larger than may be', forged(() => {}, maxDataBytes + 1)],
  ['JSON larger than may be', forged(() => {}, maxJsonBytes + 1, frameTypes.tell)],
  ['a cancel with a body', forged(() => {}, 1, frameTypes.cancel)],
  ['a credit of three bytes', forged(() => {}, 3, frameTypes.credit)],
  ['an acknowledgement with a number of its own', stampFrame(encodeFrame(frameTypes.ack, 0), 1, 0)],
  ['a frame of a call without a number', stampFrame(encodeFrame(frameTypes.cancel, 1), 0, 0)],
  ['a size beyond the message', forged((frame) => frame.writeUInt32LE(0xffff_ffff, 4))],
  ['half a header', forged(() => {}).subarray(0, headerBytes - 1)],
])('%s is a fault', (_, message) => {
  expect(() => decode(message)).toThrow(ProtocolFault);
});
