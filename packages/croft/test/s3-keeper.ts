/**
 * Keeps one S3 server for a whole run of tests: `node s3-keeper.ts DIRECTORY PID`. It is no child of the test file that
 * happened to be first, and ends, with everything it started, when the process of the run is gone.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startCluster } from './s3-cluster.ts';

const [ground = '', owner = ''] = process.argv.slice(2);

/** Ids of processes are used again; with when it started it is one and the same. */
function startOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19];
  } catch {
    return undefined;
  }
}

function tell(name: string, text: string): void {
  const path = join(ground, name);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

const started = startOf(owner);
const isWanted = () => started !== undefined && startOf(owner) === started;
const abandoned = (async () => {
  while (isWanted()) await pause(250);
})();
const working = startCluster(ground);
working.then(({ endpoint }) => tell('endpoint', endpoint)).catch((thrown) => tell('failed', String(thrown)));
await abandoned;
// They end by SIGKILL and write no more; one that is still being started goes with this process.
await working.then((cluster) => cluster[Symbol.asyncDispose]()).catch(() => {});
rmSync(ground, { recursive: true, force: true, maxRetries: 5 });
process.exit(0);
