import { inParallel } from '../../lib/in-parallel.ts';
import type { Files } from '../files.ts';
import { type ApplyOptions, applySync, atOnce, isOvertaken } from './apply-sync.ts';
import { createLook, type Seen } from './look.ts';
import {
  type KnownManifest,
  type Manifest,
  readManifest,
  removeManifest,
  type SyncedFile,
  writeManifest,
} from './manifest.ts';
import { planSync, type SyncPlan } from './plan-sync.ts';
import type { Reason, SourceFile } from './source.ts';

export interface DirectoryReport {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: number;
  readonly conflicts: readonly Reason[];
}

export interface DirectoryOptions extends ApplyOptions {
  readonly source: readonly SourceFile[];
}

const maxAttempts = 10;

/**
 * Makes the server's files in a directory what the server has. What was begun is known before it is begun, so that one
 * that is cut short anywhere is finished by the next.
 */
export async function syncDirectory(options: DirectoryOptions): Promise<DirectoryReport> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await syncOnce(options);
    } catch (thrown) {
      if (attempt === maxAttempts || !isOvertaken(thrown)) throw thrown;
    }
  }
}

/** Throws `E_STALE` or `E_ALREADY_EXISTS` when another is at the same work and was first to say what it does. */
async function syncOnce(options: DirectoryOptions): Promise<DirectoryReport> {
  const { files, directory, source } = options;
  const known = await readManifest(files, directory);
  const plan = planSync(source, known.files, await lookAtAll(options, known.files));
  const keep = createKeeping(files, directory, known);
  const isIdle = plan.writes.length === 0 && plan.removals.length === 0;
  if (!isIdle) await keep(plan.before);
  const done = isIdle ? { written: [], removed: [], overtaken: [] } : await applySync(plan, options);
  await keep(new Map([...plan.after, ...done.overtaken.flatMap(({ path }) => stillBefore(plan, path))]));
  const { written, removed, overtaken } = done;
  const full = ({ path, reason }: Reason) => ({ path: `${directory}/${path}`, reason });
  return { written, removed, unchanged: plan.unchanged, conflicts: [...plan.conflicts, ...overtaken].map(full) };
}

function stillBefore({ before }: SyncPlan, path: string): [string, SyncedFile][] {
  const entry = before.get(path);
  return entry ? [[path, entry]] : [];
}

async function lookAtAll(options: DirectoryOptions, manifest: Manifest): Promise<ReadonlyMap<string, Seen>> {
  const { files, directory, source, signal, onStep } = options;
  const look = createLook(files);
  const seen = new Map<string, Seen>();
  const paths = new Set([...source.map(({ path }) => path), ...manifest.keys()]);
  await inParallel(paths, atOnce, async (path) => {
    signal.throwIfAborted();
    seen.set(path, await look(`${directory}/${path}`));
    onStep();
  });
  return seen;
}

/** Writes the manifest if it would say anything else than it does. */
function createKeeping(files: Files, directory: string, known: KnownManifest) {
  let [version, said] = [known.version, JSON.stringify([...known.files])];
  return async (manifest: Manifest): Promise<void> => {
    const says = JSON.stringify([...manifest].sort(([a], [b]) => (a < b ? -1 : 1)));
    if (says === said) return;
    if (manifest.size === 0) await removeManifest(files, directory);
    version = manifest.size === 0 ? undefined : await writeManifest(files, directory, manifest, version);
    said = says;
  };
}
