import { initWasm, Resvg } from '@resvg/resvg-wasm';
import type { Pixels } from './write-pdf.ts';

/** Programs and fonts that the thread gets instead of reading files. */
export interface DrawingAssets {
  readonly resvg: Uint8Array;
  readonly fonts: readonly Uint8Array[];
}

interface Raster extends Pixels {
  readonly png: Uint8Array;
  /** Pixels in a unit of the drawing. */
  readonly scale: number;
}

/** Twice as large as drawn, so that small letters can be read. */
const wantedScale = 2;
const maxSide = 8192;
const maxPixels = 32 * 1024 * 1024;

/** Paints an SVG on white, once in a thread. A large one is scaled down to 8192 pixels a side. */
export async function rasterize(svg: string, { resvg, fonts }: DrawingAssets): Promise<Raster> {
  await initWasm(resvg);
  const font = {
    fontBuffers: [...fonts],
    ...{ defaultFontFamily: 'DejaVu Sans', sansSerifFamily: 'DejaVu Sans', serifFamily: 'DejaVu Serif' },
    monospaceFamily: 'DejaVu Sans Mono',
  };
  const options = { font, background: '#ffffff' };
  const { width, height } = new Resvg(svg, options);
  const scale = Math.min(wantedScale, maxSide / width, maxSide / height, Math.sqrt(maxPixels / (width * height)));
  const image = new Resvg(svg, { ...options, fitTo: { mode: 'zoom', value: scale } }).render();
  return { png: image.asPng(), rgba: image.pixels, width: image.width, height: image.height, scale };
}
