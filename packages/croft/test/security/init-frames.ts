import fc from 'fast-check';
import { encodeInitFrame, encodeStart, type StartRequest, toInit } from '../../src/init/init-frames.ts';

export function toStart(id: number, argv: readonly string[], more: Partial<StartRequest> = {}): Buffer {
  const request = { directory: '/', environment: { PATH: '/usr/bin:/bin', A: 'b' }, hasInput: false, limits: [] };
  return encodeStart(id, { ...request, creditBytes: 256 * 1024, argv, ...more });
}

// Few ids, so that frames refer to commands of other frames.
const id = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 6 }) }, fc.integer({ min: 0, max: 0xffff_ff00 }));
const byte = fc.integer({ min: 0, max: 255 });
const uint32 = fc.oneof(fc.integer({ min: 0, max: 0xffff_ffff }), fc.constantFrom(0, 1, 65_536, 0xffff_ffff));

const start = fc
  .record({
    id,
    argv: fc.constantFrom(
      ['true'],
      ['cat'],
      ['cat', '/proc/self/environ'],
      ['/bin/true'],
      ['not-there'],
      ['cat', '-', '/'],
    ),
    hasInput: fc.boolean(),
    terminal: fc.option(fc.record({ rows: fc.nat(65_535), columns: fc.nat(65_535) }), { nil: undefined }),
    creditBytes: uint32,
    directory: fc.constantFrom('/', '/', '/nowhere', ''),
    environment: fc.constantFrom<Record<string, string>>(
      { PATH: '/usr/bin:/bin' },
      {},
      { A: 'b' },
      { A: 'b', PATH: '::/x:/bin:' },
    ),
    limits: fc.array(fc.option(fc.oneof(fc.nat(100), fc.maxSafeNat()), { nil: undefined }), { maxLength: 8 }),
  })
  .map(({ id: of, argv, ...more }) => toStart(of, argv, more));

const order = fc.oneof(
  { weight: 3, arbitrary: start },
  fc
    .tuple(id, fc.oneof(fc.nat(100), fc.constantFrom(65_536, 262_144, 262_145, 1_048_576)), byte)
    .map(([of, length, fill]) => encodeInitFrame(toInit.input, of, 0, Buffer.alloc(length, fill))),
  fc.tuple(id, byte).map(([of, detail]) => encodeInitFrame(toInit.endInput, of, detail)),
  fc.tuple(id, byte).map(([of, number]) => encodeInitFrame(toInit.signal, of, number)),
  fc.tuple(id, fc.uint8Array({ maxLength: 6 })).map(([of, window]) => encodeInitFrame(toInit.resize, of, 0, window)),
  fc
    .tuple(id, fc.integer({ min: 0, max: 3 }), uint32)
    .map(([of, stream, credit]) =>
      encodeInitFrame(toInit.credit, of, stream, Buffer.from(Uint32Array.of(credit).buffer)),
    ),
  fc
    .tuple(id, byte, fc.uint8Array({ maxLength: 6 }))
    .map(([of, stream, bytes]) => encodeInitFrame(toInit.credit, of, stream, bytes)),
  fc.tuple(id, byte).map(([of, detail]) => encodeInitFrame(toInit.kill, of, detail)),
);

const changes = fc.array(fc.tuple(fc.nat(), byte), { minLength: 1, maxLength: 4 });

/** Changes bytes from `first` on. */
function change(frame: Buffer, positions: readonly (readonly [number, number])[], first: number): Buffer {
  const changed = Buffer.from(frame);
  if (changed.length > first) {
    for (const [position, value] of positions) changed[first + (position % (changed.length - first))] = value;
  }
  return changed;
}

/** Frames with any content but a correct size. */
export const validFrame = fc.oneof(
  { weight: 4, arbitrary: order },
  { weight: 3, arbitrary: fc.tuple(start, changes).map(([frame, offsets]) => change(frame, offsets, 12)) },
  // The header of a START, which holds the counts.
  {
    weight: 2,
    arbitrary: fc
      .tuple(start, changes)
      .map(([frame, offsets]) => Buffer.concat([change(frame.subarray(0, 92), offsets, 24 - 12), frame.subarray(92)])),
  },
  // Cut short, with the size of the rest.
  fc.tuple(start, fc.nat()).map(([frame, length]) => {
    const payload = frame.subarray(12);
    return encodeInitFrame(toInit.start, frame.readUInt32LE(4), 0, payload.subarray(0, length % payload.length));
  }),
  fc
    .tuple(fc.integer({ min: 1, max: 7 }), id, byte, fc.uint8Array({ maxLength: 300 }))
    .map(([type, of, detail, payload]) => encodeInitFrame(type, of, detail, payload)),
);

export const anyBytes = fc.oneof(
  { weight: 3, arbitrary: validFrame },
  fc.tuple(order, changes).map(([frame, offsets]) => change(frame.subarray(0, 2000), offsets, 0)),
  fc.tuple(order, fc.nat()).map(([frame, length]) => frame.subarray(0, length % frame.length)),
  fc.tuple(order, uint32).map(([frame, size]) => {
    const changed = Buffer.from(frame);
    changed.writeUInt32LE(size, 0);
    return changed;
  }),
  fc.tuple(byte, id).map(([type, of]) => encodeInitFrame(type, of)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

/** Splits frames into pieces of any size, or into one. */
export function* toPieces(frames: readonly Buffer[], sizes: readonly number[]): Generator<Buffer> {
  const whole = Buffer.concat(frames);
  let from = 0;
  for (const size of sizes) {
    yield whole.subarray(from, from + size);
    from += size;
  }
  yield whole.subarray(from);
}

export const pieces = fc.array(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 5000 })), {
  maxLength: 50,
});
