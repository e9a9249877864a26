import { inflateSync } from 'node:zlib';

export interface DecodedPng {
  readonly width: number;
  readonly height: number;
  /** Bytes of a pixel: three, or four with its opacity. */
  readonly channels: number;
  readonly pixels: Buffer;
  /** Colors as `#rrggbb`, with how many pixels have each. */
  readonly colors: ReadonlyMap<string, number>;
}

/** Decodes a PNG of 8 bits and three or four channels, as the renderer and browsers write it. */
export function readPng(png: Buffer): DecodedPng {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  if (png.subarray(1, 4).toString() !== 'PNG' || png[24] !== 8 || !(png[25] === 6 || png[25] === 2))
    throw new Error('not such a PNG');
  const channels = png[25] === 6 ? 4 : 3;
  const rows = unfilter(inflateSync(Buffer.concat(chunksOf(png, 'IDAT'))), {
    stride: width * channels,
    height,
    channels,
  });
  const colors = new Map<string, number>();
  for (let at = 0; at < rows.length; at += channels) {
    const color = `#${rows.subarray(at, at + 3).toString('hex')}`;
    colors.set(color, (colors.get(color) ?? 0) + 1);
  }
  return { width, height, channels, pixels: rows, colors };
}

function chunksOf(png: Buffer, type: string): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12)
    if (png.toString('latin1', at + 4, at + 8) === type)
      found.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  return found;
}

/** Undoes the filter of each row: what a byte adds to its left, upper and upper left neighbours. */
function unfilter(data: Buffer, image: { stride: number; height: number; channels: number }): Buffer {
  const { stride, height, channels } = image;
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const left = x >= channels ? (out[y * stride + x - channels] ?? 0) : 0;
      const up = y > 0 ? (out[(y - 1) * stride + x] ?? 0) : 0;
      const corner = x >= channels && y > 0 ? (out[(y - 1) * stride + x - channels] ?? 0) : 0;
      const added = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      out[y * stride + x] = (data[y * (stride + 1) + 1 + x] ?? 0) + added;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const [toLeft, toUp, toCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
