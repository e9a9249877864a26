import { crc32 } from 'node:zlib';
import { channelCount, maxDataBytes, maxJsonBytes } from './limits.ts';

/**
 * A message holds one or more frames. Little endian:
 *
 *     0  crc      u32   of everything after it
 *     4  size     u32   of the payload
 *     8  type     u8
 *     9  channel  u8    0 where there is none
 *    10  sequence u48   from 1, one more with each frame; 0 for those that are of the connection and not of the link
 *    16  ack      u48   the last sequence number that was received
 *    22  call     u48   odd if the dialling side made it, 0 where there is none
 *    28  payload
 */
export const frameTypes = {
  open: 1,
  answer: 2,
  fail: 3,
  cancel: 4,
  done: 5,
  tell: 6,
  data: 7,
  end: 8,
  break: 9,
  credit: 10,
  ack: 16,
  close: 17,
} as const;

export type FrameType = (typeof frameTypes)[keyof typeof frameTypes];

export interface Frame {
  readonly type: FrameType;
  readonly channel: number;
  readonly sequence: number;
  readonly ack: number;
  readonly call: number;
  /** A part of the message it came in. */
  readonly payload: Buffer;
}

/** What the other side may not send. The connection, or the link, ends with it. */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
}

export const headerBytes = 28;
const maxNumber = 2 ** 48 - 1;

interface Shape {
  readonly maxBytes: number;
  readonly minBytes?: number;
  readonly hasChannel?: true;
  /** Of the connection: no sequence number, no call. */
  readonly isLoose?: true;
}

const shapes: Readonly<Record<FrameType, Shape>> = {
  [frameTypes.open]: { minBytes: 2, maxBytes: maxJsonBytes },
  [frameTypes.answer]: { maxBytes: maxJsonBytes },
  [frameTypes.fail]: { minBytes: 2, maxBytes: maxJsonBytes },
  [frameTypes.cancel]: { maxBytes: 0 },
  [frameTypes.done]: { maxBytes: 0 },
  [frameTypes.tell]: { maxBytes: maxJsonBytes },
  [frameTypes.data]: { minBytes: 1, maxBytes: maxDataBytes, hasChannel: true },
  [frameTypes.end]: { maxBytes: 0, hasChannel: true },
  [frameTypes.break]: { maxBytes: 0, hasChannel: true },
  [frameTypes.credit]: { minBytes: 4, maxBytes: 4, hasChannel: true },
  [frameTypes.ack]: { maxBytes: 0, isLoose: true },
  [frameTypes.close]: { maxBytes: 1024, isLoose: true },
};

const nothing = Buffer.alloc(0);

/** A frame that still has to be stamped. The payload is copied, so that it stays what it was until it is acknowledged. */
export function encodeFrame(type: FrameType, call: number, channel = 0, payload: Uint8Array = nothing): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + payload.length);
  frame.writeUInt32LE(payload.length, 4);
  frame[8] = type;
  frame[9] = channel;
  frame.writeUIntLE(call, 22, 6);
  frame.set(payload, headerBytes);
  return frame;
}

/** As often as it is sent: what was received meanwhile goes with it. */
export function stampFrame(frame: Buffer, sequence: number, ack: number): Buffer {
  frame.writeUIntLE(sequence, 10, 6);
  frame.writeUIntLE(ack, 16, 6);
  frame.writeUInt32LE(crc32(frame.subarray(4)), 0);
  return frame;
}

/** Throws a `ProtocolFault` for anything that is not a whole number of right frames, after those before it. */
export function decodeFrames(message: Buffer, onFrame: (frame: Frame) => void): void {
  if (message.length === 0) throw new ProtocolFault('a message without a frame');
  for (let at = 0; at < message.length; ) {
    const end = frameEnd(message, at);
    onFrame(decodeFrame(message.subarray(at, end)));
    at = end;
  }
}

function frameEnd(message: Buffer, at: number): number {
  if (message.length - at < headerBytes) throw new ProtocolFault('a frame without its header');
  const end = at + headerBytes + message.readUInt32LE(at + 4);
  if (end > message.length) throw new ProtocolFault('a frame that is cut off');
  return end;
}

function decodeFrame(bytes: Buffer): Frame {
  if (crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) throw new ProtocolFault('a frame with a wrong checksum');
  const frame = {
    type: bytes.readUInt8(8) as FrameType,
    channel: bytes.readUInt8(9),
    sequence: bytes.readUIntLE(10, 6),
    ack: bytes.readUIntLE(16, 6),
    call: bytes.readUIntLE(22, 6),
    payload: bytes.subarray(headerBytes),
  };
  checkShape(frame, shapes[frame.type]);
  return frame;
}

function checkShape({ payload, channel, sequence, call }: Frame, shape: Shape | undefined): void {
  if (!shape) throw new ProtocolFault('a frame of an unknown type');
  const { minBytes = 0, maxBytes, hasChannel, isLoose = false } = shape;
  if (payload.length < minBytes || payload.length > maxBytes) throw new ProtocolFault('a frame of a wrong size');
  if (channel >= (hasChannel ? channelCount : 1)) throw new ProtocolFault('a frame for a channel that cannot be');
  if (isLoose !== (sequence === 0) || isLoose !== (call === 0)) throw new ProtocolFault('a frame with a wrong number');
}

/** Never reached: a link that sends a million frames a second ends after nine years. */
export function nextNumber(number: number, step = 1): number {
  if (number + step > maxNumber) throw new RangeError('a link has used up its numbers');
  return number + step;
}
