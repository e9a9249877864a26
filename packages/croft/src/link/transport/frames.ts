import { crc32 } from 'node:zlib';
import { channelCount, maxDataBytes, maxJsonBytes } from './link-limits.ts';

/**
 * A message holds one or more frames. Numbers are little endian:
 *
 *     0  crc      u32   checksum of everything after it
 *     4  size     u32   length of the payload
 *     8  type     u8
 *     9  channel  u8    0 if the frame has none
 *    10  sequence u48   counts frames from 1; 0 for frames of the connection and not of the link
 *    16  ack      u48   the last sequence number that was received
 *    22  call     u48   odd if the dialling side made the call; 0 if the frame has none
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

export interface LinkFrame {
  readonly type: FrameType;
  readonly channel: number;
  readonly sequence: number;
  readonly ack: number;
  readonly call: number;
  /** A view into the message that the frame came in, not a copy. */
  readonly payload: Buffer;
}

/** The other side violated the protocol. The connection, or the whole link, ends with this error. */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
}

export const headerBytes = 28;
const maxNumber = 2 ** 48 - 1;

interface FrameShape {
  readonly maxBytes: number;
  readonly minBytes?: number;
  readonly hasChannel?: true;
  /** The frame belongs to the connection and not to the link: it has no sequence number and no call. */
  readonly isUnnumbered?: true;
}

const shapes: Readonly<Record<FrameType, FrameShape>> = {
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
  [frameTypes.ack]: { maxBytes: 0, isUnnumbered: true },
  [frameTypes.close]: { maxBytes: 1024, isUnnumbered: true },
};

const nothing = Buffer.alloc(0);

/**
 * Encodes a frame without its sequence number and checksum, which `stampFrame` writes. Copies the payload, because the
 * frame may be sent again until it is acknowledged.
 */
export function encodeFrame(type: FrameType, call: number, channel = 0, payload: Uint8Array = nothing): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + payload.length);
  frame.writeUInt32LE(payload.length, 4);
  frame[8] = type;
  frame[9] = channel;
  frame.writeUIntLE(call, 22, 6);
  frame.set(payload, headerBytes);
  return frame;
}

/** Called each time a frame is sent, so that it carries the latest acknowledgement. */
export function stampFrame(frame: Buffer, sequence: number, ack: number): Buffer {
  frame.writeUIntLE(sequence, 10, 6);
  frame.writeUIntLE(ack, 16, 6);
  frame.writeUInt32LE(crc32(frame.subarray(4)), 0);
  return frame;
}

/**
 * Calls `onFrame` for each frame. Throws a `ProtocolFault` at the first byte that is not part of a valid frame, after
 * the frames before it were delivered.
 */
export function decodeFrames(message: Buffer, onFrame: (frame: LinkFrame) => void): void {
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

function decodeFrame(bytes: Buffer): LinkFrame {
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

function checkShape({ payload, channel, sequence, call }: LinkFrame, shape: FrameShape | undefined): void {
  if (!shape) throw new ProtocolFault('a frame of an unknown type');
  const { minBytes = 0, maxBytes, hasChannel, isUnnumbered = false } = shape;
  if (payload.length < minBytes || payload.length > maxBytes) throw new ProtocolFault('a frame of a wrong size');
  if (channel >= (hasChannel ? channelCount : 1)) throw new ProtocolFault('a frame for an unknown channel');
  if (isUnnumbered !== (sequence === 0) || isUnnumbered !== (call === 0))
    throw new ProtocolFault('a frame with a wrong number');
}

/** The limit is never reached: at a million frames a second it takes nine years. */
export function nextNumber(number: number, step = 1): number {
  if (number + step > maxNumber) throw new RangeError('a link has used up its numbers');
  return number + step;
}
