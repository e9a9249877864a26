import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { AppError } from '@croft/protocol';
import type { DiagramRequest, RenderDiagram, RenderedDiagram } from '../core/diagrams/render-diagram.ts';
import { createConcurrencyLimit } from '../lib/concurrency/concurrency-limit.ts';
import { startWorker } from '../lib/concurrency/start-worker.ts';
import { cutText } from '../lib/text/cut-text.ts';
import type { DrawingAssets } from './rasterize.ts';

export interface DrawingTask extends Pick<DiagramRequest, 'language' | 'source' | 'format'> {
  readonly assets: DrawingAssets;
}

export type DrawingAnswer = RenderedDiagram | { readonly problem: string };

/** Each thread may need hundreds of megabytes. */
const maxThreads = 2;
const maxProblem = 2000;
const fontNames = ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSerif', 'DejaVuSansMono'];

/** Draws each diagram in a thread of its own, which is ended at the deadline whatever it does. */
export function createDiagramRenderer(): RenderDiagram {
  const limit = createConcurrencyLimit(maxThreads);
  let assets: Promise<DrawingAssets> | undefined;

  return async ({ timeoutMs, signal, ...asked }) => {
    assets ??= loadAssets();
    const { language, source, format } = asked;
    const task = { language, source, format, assets: await assets };
    return limit.run(() => runTask(task, `render_${language}`, timeoutMs, signal));
  };
}

async function loadAssets(): Promise<DrawingAssets> {
  const { resolve } = createRequire(import.meta.url);
  const [resvg, ...fonts] = await Promise.all(
    ['@resvg/resvg-wasm/index_bg.wasm', ...fontNames.map((name) => `dejavu-fonts-ttf/ttf/${name}.ttf`)].map((file) =>
      readFile(resolve(file)),
    ),
  );
  return { resvg: resvg ?? Buffer.alloc(0), fonts };
}

async function runTask(
  task: DrawingTask,
  name: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<RenderedDiagram> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<DrawingAnswer>();
  const module = new URL('./drawing-worker.ts', import.meta.url);
  const options = { workerData: task, stdin: false, stdout: true, stderr: true };
  const worker = startWorker(module, { oldGenerationMb: 512, youngGenerationMb: 48 }, options);
  const timeout = () =>
    reject(
      new AppError('E_TIMEOUT', `${name}: timed out after ${timeoutMs / 1000}s`, {
        hint: 'Nothing was written. Make the diagram smaller, or pass a longer timeout.',
      }),
    );
  const timer = setTimeout(timeout, timeoutMs);
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  worker.once('message', resolve);
  worker.once('error', (error) => resolve({ problem: `the diagram could not be drawn: ${error.message}` }));
  worker.once('exit', () =>
    resolve({ problem: 'the diagram could not be drawn: it needs more memory than it may use' }),
  );
  try {
    return mustBeDrawn(name, await promise);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function mustBeDrawn(name: string, answer: DrawingAnswer): RenderedDiagram {
  if (!('problem' in answer)) return answer;
  throw new AppError('E_INVALID_INPUT', `${name}: ${cutText(answer.problem, maxProblem)}`);
}
