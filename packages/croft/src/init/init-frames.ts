/** Encodes and decodes the frames between the server and the init of a sandbox. Other side: `native/init/init-frames.h`. */

export const wireVersion = 3;

/** Types of frames to the init. */
export const toInit = { start: 1, input: 2, endInput: 3, signal: 4, resize: 5, credit: 6, kill: 7 } as const;

/** Types of frames from the init. */
export const fromInit = {
  ready: 64,
  output: 66,
  exit: 67,
  failed: 68,
  inputTaken: 69,
  refused: 70,
  guarded: 71,
} as const;

const headerBytes = 12;
const startHeaderBytes = 80;
const limitCount = 8;
const unlimited = 0xffff_ffff_ffff_ffffn;
export const maxPayloadBytes = 1024 * 1024;
/** Largest payload that the init sends in one frame. */
const maxReceivedBytes = 64 * 1024;

export interface InitFrame {
  readonly type: number;
  readonly id: number;
  readonly detail: number;
  readonly payload: Buffer;
}

export interface StartRequest {
  readonly argv: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly hasInput: boolean;
  /** Standard output and standard error are one stream, in the order in which they were written. */
  readonly isMerged?: boolean;
  readonly terminal?: { readonly rows: number; readonly columns: number } | undefined;
  readonly creditBytes: number;
  /** Limits in the order of `enum limit`; `undefined` leaves a limit unchanged. */
  readonly limits: readonly (number | undefined)[];
}

export function encodeInitFrame(type: number, id: number, detail = 0, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame.writeUInt32LE(id, 4);
  frame.writeUInt8(type, 8);
  frame.writeUInt8(detail, 9);
  frame.writeUInt16LE(0, 10);
  frame.set(payload, headerBytes);
  return frame;
}

/**
 * Encodes a request to start a command. Throws a `RangeError` for a request that is too large for a frame or holds a
 * NUL byte.
 */
export function encodeStart(id: number, request: StartRequest): Buffer {
  const { argv, directory, environment, hasInput, isMerged = false, terminal, creditBytes, limits } = request;
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const strings = [directory, ...argv, ...variables];
  if (strings.some((text) => text.includes('\0'))) throw new RangeError('an argument holds a NUL byte');

  const head = Buffer.alloc(startHeaderBytes);
  head.writeUInt32LE((terminal ? 1 : 0) | (hasInput ? 2 : 0) | (isMerged ? 4 : 0), 0);
  head.writeUInt16LE(terminal?.rows ?? 0, 4);
  head.writeUInt16LE(terminal?.columns ?? 0, 6);
  head.writeUInt32LE(creditBytes, 8);
  head.writeUInt16LE(argv.length, 12);
  head.writeUInt16LE(variables.length, 14);
  for (let index = 0; index < limitCount; index++) {
    const limit = limits[index];
    head.writeBigUInt64LE(limit === undefined ? unlimited : BigInt(Math.trunc(limit)), 16 + 8 * index);
  }
  const payload = Buffer.concat([head, Buffer.from(`${strings.join('\0')}\0`)]);
  if (payload.length > maxPayloadBytes) throw new RangeError('the command is too long');
  return encodeInitFrame(toInit.start, id, 0, payload);
}

/**
 * Splits a stream of bytes into frames. Throws for a frame that Croft's init never sends: then the other side cannot be
 * trusted any more.
 */
export function createInitFrameDecoder(onFrame: (frame: InitFrame) => void) {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes: Buffer): void => {
    let whole = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (whole.length >= headerBytes) {
      const size = whole.readUInt32LE(0);
      if (size > maxReceivedBytes) throw new RangeError('the init of a sandbox sent an impossible frame');
      if (whole.length < headerBytes + size) break;
      const payload = whole.subarray(headerBytes, headerBytes + size);
      onFrame({ id: whole.readUInt32LE(4), type: whole.readUInt8(8), detail: whole.readUInt8(9), payload });
      whole = whole.subarray(headerBytes + size);
    }
    rest = whole;
  };
}
