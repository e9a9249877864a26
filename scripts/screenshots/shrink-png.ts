import { crc32, deflateSync } from 'node:zlib';
import { readPng } from '../../packages/croft/test/support/read-png.ts';

const mostColours = 256;

/** The same picture with a palette of its most frequent colours: a third of the bytes, for pages of text on flat colour. */
export function shrinkPng(png: Buffer): Buffer {
  const { width, height, channels, pixels } = readPng(png);
  const colours = new Uint32Array(width * height);
  for (let index = 0; index < colours.length; index++) {
    const at = index * channels;
    colours[index] = ((pixels[at] ?? 0) << 16) | ((pixels[at + 1] ?? 0) << 8) | (pixels[at + 2] ?? 0);
  }
  const palette = findPalette(colours);
  const indexOf = createNearest(palette);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = indexOf(colours[y * width + x] ?? 0);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits a pixel, by a palette.
  header.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const chunks = [toChunk('IHDR', header), toChunk('PLTE', table), toChunk('IDAT', deflateSync(rows, { level: 9 }))];
  return Buffer.concat([png.subarray(0, 8), ...chunks, toChunk('IEND', Buffer.alloc(0))]);
}

/** One of every hue comes first, so that a small red mark stays red; then the most frequent ones. */
function findPalette(colours: Uint32Array): number[] {
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const frequent = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour);
  const hues = new Map<number, number>();
  for (const colour of frequent) {
    const hue = colour & 0xe0e0e0;
    if (!hues.has(hue)) hues.set(hue, colour);
  }
  return [...new Set([...[...hues.values()].slice(0, mostColours / 2), ...frequent])].slice(0, mostColours);
}

function createNearest(palette: readonly number[]): (colour: number) => number {
  const known = new Map(palette.map((colour, index) => [colour, index]));
  return (colour) => {
    const found = known.get(colour);
    if (found !== undefined) return found;
    const distances = palette.map((other) => distance(colour, other));
    const nearest = distances.indexOf(Math.min(...distances));
    known.set(colour, nearest);
    return nearest;
  };
}

function distance(one: number, other: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
}

function toChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
