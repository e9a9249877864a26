import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const startWorker = JSON.stringify(new URL('./start-worker.ts', import.meta.url));

/** Fills the space for young objects, and answers how many megabytes it has grown to. */
const worker = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { parentPort } from 'node:worker_threads';
  const kept = [];
  for (let i = 0; i < 2e6; i++) kept[i % 1000] = { text: \`\${i}\` };
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  parentPort.postMessage(Math.round(young.space_size / 2 ** 20));`;

test('the size for the main thread on the command line is not that of workers', async () => {
  const module = JSON.stringify(`data:text/javascript,${encodeURIComponent(worker)}`);
  const main = `
    const { startWorker } = await import(${startWorker});
    const memory = { oldGenerationMb: 64, youngGenerationMb: 6 };
    startWorker(new URL(${module}), memory).once('message', (size) => console.log(size));`;
  const flags = ['--max-semi-space-size=16', '--input-type=module', '-e', main];
  const { stdout } = await run(process.execPath, flags);
  expect(Number(stdout)).toBeGreaterThan(0);
  expect(Number(stdout)).toBeLessThanOrEqual(6);
});
