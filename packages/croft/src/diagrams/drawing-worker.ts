import { parentPort, workerData } from 'node:worker_threads';
import type { DrawingAnswer, DrawingTask } from './create-diagram-renderer.ts';
import { DiagramError } from './diagram-error.ts';
import { drawSvg } from './draw-svg.ts';
import { rasterize } from './rasterize.ts';
import { writePdf } from './write-pdf.ts';

/** Draws one diagram and ends. Everything that it needs comes with the task: it opens no file and no connection. */
async function draw({ language, source, format, assets }: DrawingTask): Promise<DrawingAnswer> {
  try {
    const svg = await drawSvg(language, source);
    const { png, rgba, width, height, scale } = await rasterize(svg, assets);
    const written = {
      svg: () => Buffer.from(svg),
      png: () => png,
      pdf: () => writePdf({ rgba, width, height }, scale),
    };
    return { bytes: new Uint8Array(written[format]()), png, width, height };
  } catch (thrown) {
    if (thrown instanceof DiagramError) return { problem: thrown.message };
    return { problem: `the diagram could not be drawn: ${thrown instanceof Error ? thrown.message : String(thrown)}` };
  }
}

parentPort?.postMessage(await draw(workerData as DrawingTask));
