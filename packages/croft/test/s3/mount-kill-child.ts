/**
 * Commits changes of every kind and kills itself in the middle: `node mount-kill-child.ts JSON`. `at` is the number of
 * bucket requests before the kill. Prints a line if it reaches the end.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import type { ObjectStore } from '../../src/core/storage/object-store.ts';
import { type BucketLocation, connect, openMount } from '../support/s3/mount-fixture.ts';

const { location, data, other, at, phase } = JSON.parse(process.argv[2] ?? '{}') as {
  location: BucketLocation;
  data: string;
  /** Data directory of another server that changes the same files. */
  other: string;
  at: number;
  phase: 'open' | 'commit' | 'refresh';
};
const signal = new AbortController().signal;
// A process that is killed writes no compile cache at its end.
flushCompileCache();
let [requests, isArmed] = [0, phase === 'open'];

/** The request is carried out, and the process dies before it gets the answer. */
async function counted<T>(work: Promise<T>): Promise<T> {
  const result = await work;
  if (isArmed && ++requests === at) process.kill(process.pid, 'SIGKILL');
  return result;
}

const real = connect(location);
const objects: ObjectStore = {
  ...real,
  get: (...args) => counted(real.get(...args)),
  head: (...args) => counted(real.head(...args)),
  put: (...args) => counted(real.put(...args)),
  remove: (...args) => counted(real.remove(...args)),
};

const [ours, theirs] = [
  await openMount({ data, bucketLocation: location, objects }),
  await openMount({ data: other, bucketLocation: location }),
];
if (phase === 'open') end();
const put = (mount: typeof ours, path: string, text: string) => {
  mkdirSync(join(mount.directory, path, '..'), { recursive: true });
  writeFileSync(join(mount.directory, path), text);
};

for (const name of ['changed', 'removed', 'both', 'd/moved', 'revived']) put(theirs, name, `old ${name}`);
await theirs.commit(signal);
await ours.refresh(signal);
if (phase === 'refresh') {
  for (const name of ['changed', 'new', 'd/new']) put(theirs, name, `new ${name}`);
  rmSync(join(theirs.directory, 'removed'));
} else {
  for (const name of ['changed', 'new', 'both', 'e/moved', 'large'])
    put(ours, name, `new ${name}`.repeat(name === 'large' ? 300_000 : 1));
  for (const name of ['removed', 'd', 'revived']) rmSync(join(ours.directory, name), { recursive: true });
  put(theirs, 'both', 'theirs');
  put(theirs, 'revived', 'theirs');
}
await theirs.commit(signal);
isArmed = true;
if (phase === 'refresh') await ours.refresh(signal);
else await ours.commit(signal).catch(() => {});
end();

function end(): never {
  process.stdout.write(`whole ${requests}\n`);
  process.exit(0);
}
