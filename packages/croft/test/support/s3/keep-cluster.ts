/**
 * Keeps one S3 server for a whole test run: `node keep-cluster.ts DIRECTORY PID`. It is no child of the first test
 * file, and ends with everything it started when the process of the run is gone.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startCluster } from './ceph-cluster.ts';

const [baseDirectory = '', owner = ''] = process.argv.slice(2);

/** Process ids are reused; id and start time together are unique. */
function startOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19];
  } catch {
    return undefined;
  }
}

function tell(name: string, text: string): void {
  const path = join(baseDirectory, name);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

const started = startOf(owner);
const isWanted = () => started !== undefined && startOf(owner) === started;
const abandoned = (async () => {
  while (isWanted()) await pause(250);
})();
const working = startCluster(baseDirectory);
working.then(({ endpoint }) => tell('endpoint', endpoint)).catch((thrown) => tell('failed', String(thrown)));
await abandoned;
// The daemons end by SIGKILL and write no more. One that is still starting ends with this process.
await working.then((cluster) => cluster[Symbol.asyncDispose]()).catch(() => {});
rmSync(baseDirectory, { recursive: true, force: true, maxRetries: 5 });
process.exit(0);
