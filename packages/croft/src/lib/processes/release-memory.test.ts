import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const releaseMemory = JSON.stringify(new URL('./release-memory.ts', import.meta.url));

/** Frees memory between pieces that stay, so that the C library does not give it back by itself. */
const script = `
  import { setTimeout as wait } from 'node:timers/promises';
  const { releaseMemory } = await import(${releaseMemory});
  const rss = () => process.memoryUsage.rss() / 2 ** 20;
  const fill = () => {
    const all = Array.from({ length: 4000 }, () => new Uint8Array(40_000).fill(1));
    return all.filter((_, index) => index % 20 === 0);
  };
  const pieces = fill();
  gc();
  await wait(100);
  const before = rss();
  releaseMemory();
  const isLess = () => rss() < before - 50;
  for (let tries = 0; tries < 100 && !isLess(); tries++) await wait(20);
  console.log(isLess(), pieces.length);`;

test('memory that was freed goes back to the system', async () => {
  const { stdout } = await run(process.execPath, ['--expose-gc', '--input-type=module', '-e', script]);
  expect(stdout).toBe('true 200\n');
});
