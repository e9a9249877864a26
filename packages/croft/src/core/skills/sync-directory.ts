import { inParallel } from '../../lib/concurrency/in-parallel.ts';
import type { Files } from '../files/files.ts';
import { type ApplySyncOptions, applySync, isWrittenByOther, maxParallelFiles } from './apply-sync.ts';
import { createPathInspector, type PathState } from './inspect-path.ts';
import { planSync, type SyncPlan } from './plan-sync.ts';
import type { PathReason, SkillSourceFile } from './skills-source.ts';
import {
  type KnownManifest,
  readSyncManifest,
  removeSyncManifest,
  type SyncedFile,
  type SyncManifest,
  writeSyncManifest,
} from './sync-manifest.ts';

interface SyncedDirectoryReport {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: number;
  readonly conflicts: readonly PathReason[];
}

interface SyncDirectoryOptions extends ApplySyncOptions {
  readonly source: readonly SkillSourceFile[];
}

const maxAttempts = 10;

/**
 * Makes a directory's synced files equal to the server's. The manifest is written before the files, so that the next
 * sync finishes one that was cut short anywhere.
 */
export async function syncDirectory(options: SyncDirectoryOptions): Promise<SyncedDirectoryReport> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await syncOnce(options);
    } catch (thrown) {
      if (attempt === maxAttempts || !isWrittenByOther(thrown)) throw thrown;
    }
  }
}

/** Throws `E_STALE` or `E_ALREADY_EXISTS` if another sync wrote the manifest first. */
async function syncOnce(options: SyncDirectoryOptions): Promise<SyncedDirectoryReport> {
  const { files, directory, source } = options;
  const known = await readSyncManifest(files, directory);
  const plan = planSync(source, known.files, await inspectAll(options, known.files));
  const keep = createManifestWriter(files, directory, known);
  const isIdle = plan.writes.length === 0 && plan.removals.length === 0;
  if (!isIdle) await keep(plan.before);
  const done = isIdle ? { written: [], removed: [], overtaken: [] } : await applySync(plan, options);
  await keep(new Map([...plan.after, ...done.overtaken.flatMap(({ path }) => stillBefore(plan, path))]));
  const { written, removed, overtaken } = done;
  const full = ({ path, reason }: PathReason) => ({ path: `${directory}/${path}`, reason });
  return { written, removed, unchanged: plan.unchanged, conflicts: [...plan.conflicts, ...overtaken].map(full) };
}

function stillBefore({ before }: SyncPlan, path: string): [string, SyncedFile][] {
  const entry = before.get(path);
  return entry ? [[path, entry]] : [];
}

async function inspectAll(
  options: SyncDirectoryOptions,
  manifest: SyncManifest,
): Promise<ReadonlyMap<string, PathState>> {
  const { files, directory, source, signal, onStep } = options;
  const inspect = createPathInspector(files);
  const seen = new Map<string, PathState>();
  const paths = new Set([...source.map(({ path }) => path), ...manifest.keys()]);
  await inParallel(paths, maxParallelFiles, async (path) => {
    signal.throwIfAborted();
    seen.set(path, await inspect(`${directory}/${path}`));
    onStep();
  });
  return seen;
}

/** Returns a function that writes the manifest if it changed. */
function createManifestWriter(files: Files, directory: string, known: KnownManifest) {
  let [version, said] = [known.version, JSON.stringify([...known.files])];
  return async (manifest: SyncManifest): Promise<void> => {
    const says = JSON.stringify([...manifest].sort(([a], [b]) => (a < b ? -1 : 1)));
    if (says === said) return;
    if (manifest.size === 0) await removeSyncManifest(files, directory);
    version = manifest.size === 0 ? undefined : await writeSyncManifest(files, directory, manifest, version);
    said = says;
  };
}
