import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { createTally, type Growth, type GrowthRequest, type Tally } from './growth-tally.ts';
import { processesIn } from './namespace-processes.ts';
import { mappedFiles, openFiles } from './open-files.ts';

/** Each level holds a handle. */
const maxDepth = 128;
/** A directory that vanished or was swapped for something else has nothing to count. */
const vanished = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** Measures in small steps, so that whoever runs it can do something else in between. */
export function* measureGrowth(request: GrowthRequest): Generator<undefined, Growth> {
  const tally = createTally(request);
  for (const directory of request.directories) yield* walk(directory, 0, tally);
  if (request.namespace !== undefined) yield* addUnlinked(request.namespace, tally);
  return tally.growth;
}

/** From handle to handle, so that no path is too long and no link leads out, whatever is moved meanwhile. */
function* walk(path: string | Buffer, depth: number, tally: Tally): Generator<undefined> {
  const handle = depth < maxDepth ? tryTo(tally, () => openDirectory(path, depth)) : undefined;
  if (depth === maxDepth) tally.growth.isWhole = false;
  if (handle === undefined) return;
  try {
    tally.devices.add(fstatSync(handle).dev);
    for (const below of yield* list(handle, tally)) {
      if (tally.isDone()) return;
      yield* walk(below, depth + 1, tally);
    }
  } finally {
    closeSync(handle);
  }
}

/** Only the first is given by a link of the kernel's, which stands for the handle of a workspace. */
function openDirectory(path: string | Buffer, depth: number): number {
  return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | (depth > 0 ? constants.O_NOFOLLOW : 0));
}

/** Counts what is in a directory, and returns the directories among it. */
function* list(handle: number, tally: Tally): Generator<undefined, Buffer[]> {
  const below: Buffer[] = [];
  // A name is any bytes: as Latin-1 they come through as they are.
  const entries = tryTo(tally, () => opendirSync(`/proc/self/fd/${handle}`, { encoding: 'latin1', bufferSize: 256 }));
  if (!entries) return below;
  try {
    while (!tally.isDone()) {
      const entry = tryTo(tally, () => entries.readSync());
      if (!entry) break;
      const path = Buffer.from(`/proc/self/fd/${handle}/${entry.name}`, 'latin1');
      const stats = tryTo(tally, () => lstatSync(path, { throwIfNoEntry: false }));
      if (stats) tally.add(stats);
      if (stats?.isDirectory()) below.push(path);
      if (tally.isStepOver()) yield;
    }
  } finally {
    entries.closeSync();
  }
  return below;
}

/** Files that have no name any more and are there until the last process lets go of them. */
function* addUnlinked(namespace: string, tally: Tally): Generator<undefined> {
  for (const pid of processesIn(namespace)) {
    for (const { stats } of openFiles(pid)) addIfUnlinked(tally, stats.dev, stats);
    for (const { device, stats } of mappedFiles(pid)) addIfUnlinked(tally, stats?.dev ?? device, stats);
    if (tally.isDone()) return;
    yield;
  }
}

function addIfUnlinked(tally: Tally, device: number, stats: Stats | undefined): void {
  if (!tally.devices.has(device)) return;
  if (!stats) tally.growth.isWhole = false;
  else if (stats.nlink === 0) tally.add(stats);
}

function tryTo<Value>(tally: Tally, look: () => Value): Value | undefined {
  try {
    return look();
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    if (!vanished.has(code)) tally.growth.isWhole = false;
    return undefined;
  }
}
