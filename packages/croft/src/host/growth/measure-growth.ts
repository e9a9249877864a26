import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { createGrowthTally, type DiskGrowth, type DiskGrowthRequest, type GrowthTally } from './growth-tally.ts';
import { listMappedFiles, listOpenFiles } from './list-open-files.ts';
import { processesIn } from './namespace-processes.ts';

/** Each level keeps a descriptor open. */
const maxDepth = 128;
/** Errors for a directory that vanished or was replaced meanwhile; there is nothing to count in it. */
const vanished = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * Measures how much directories have grown. A generator of small steps, so that the caller can do other work in
 * between.
 */
export function* measureGrowth(request: DiskGrowthRequest): Generator<undefined, DiskGrowth> {
  const tally = createGrowthTally(request);
  for (const directory of request.directories) yield* walk(directory, 0, tally);
  if (request.namespace !== undefined) yield* addUnlinked(request.namespace, tally);
  return tally.growth;
}

/**
 * Walks from descriptor to descriptor, so that no path is too long and no link leads out, whatever is moved meanwhile.
 */
function* walk(path: string | Buffer, depth: number, tally: GrowthTally): Generator<undefined> {
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

/**
 * Follows a link only at the top, where the path is a `/proc/self/fd` link that stands for the descriptor of a
 * workspace.
 */
function openDirectory(path: string | Buffer, depth: number): number {
  return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | (depth > 0 ? constants.O_NOFOLLOW : 0));
}

/** Counts the entries of a directory, and returns the directories among them. */
function* list(handle: number, tally: GrowthTally): Generator<undefined, Buffer[]> {
  const below: Buffer[] = [];
  // A name may be any bytes; Latin-1 preserves them.
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

/** Counts deleted files that still exist because a process has them open or mapped. */
function* addUnlinked(namespace: string, tally: GrowthTally): Generator<undefined> {
  for (const pid of processesIn(namespace)) {
    for (const { stats } of listOpenFiles(pid)) addIfUnlinked(tally, stats.dev, stats);
    for (const { device, stats } of listMappedFiles(pid)) addIfUnlinked(tally, stats?.dev ?? device, stats);
    if (tally.isDone()) return;
    yield;
  }
}

function addIfUnlinked(tally: GrowthTally, device: number, stats: Stats | undefined): void {
  if (!tally.devices.has(device)) return;
  if (!stats) tally.growth.isWhole = false;
  else if (stats.nlink === 0) tally.add(stats);
}

function tryTo<Value>(tally: GrowthTally, read: () => Value): Value | undefined {
  try {
    return read();
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    if (!vanished.has(code)) tally.growth.isWhole = false;
    return undefined;
  }
}
