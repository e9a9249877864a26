import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { parseJson } from '../../lib/text/parse-json.ts';
import { findControlPath } from '../control-files/find-control-path.ts';
import type { Files } from '../files/files.ts';
import { ignorePathError } from './ignore-path-error.ts';
import { isSyncedControlFile, manifestName, syncedAgentsDirectory } from './skill-directories.ts';
import { syncLimits } from './skills-source.ts';

/** A file that the server has synced. */
export interface SyncedFile {
  /** Hashes that the file may have and still be as the server left it: several while it is being replaced. */
  readonly hashes: readonly string[];
  readonly isExecutable: boolean;
}

/** Synced files by path below the directory. */
export type SyncManifest = ReadonlyMap<string, SyncedFile>;

const maxBytes = 4 * 1024 * 1024;
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const ManifestFile = z.object({
  version: z.literal(1),
  files: z
    .array(z.object({ path: z.string().min(1).max(4096), hashes: z.array(hash).max(4), isExecutable: z.boolean() }))
    .max(2 * syncLimits.files),
});

export interface KnownManifest {
  readonly files: SyncManifest;
  /** Version of the manifest file. Absent: there is no manifest. */
  readonly version?: string | undefined;
}

/**
 * Reads the manifest of a synced directory. Anybody in the workspace may write it, so it only says which files to
 * inspect: no file is replaced or removed that does not have a listed hash, and none outside the directory. An invalid
 * manifest counts as empty.
 */
export async function readSyncManifest(files: Files, directory: string): Promise<KnownManifest> {
  const path = `${directory}/${manifestName}`;
  const found = await files.read(path, { maxBytes }).catch(rejectForeign(path));
  if (!found) return { files: new Map() };
  if (found.path !== path) throw foreignManifestError(path);
  const parsed = ManifestFile.safeParse(parseJson(found.bytes));
  const known = parsed.success ? parsed.data.files : [];
  const own = known.filter((file) => maySync(directory, file.path));
  return { files: new Map(own.map(({ path: name, ...file }) => [name, file])), version: found.version };
}

/** Writes the manifest and returns its new version. */
export async function writeSyncManifest(
  files: Files,
  directory: string,
  manifest: SyncManifest,
  version: string | undefined,
): Promise<string> {
  const listed = [...manifest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, file]) => ({ path, ...file }));
  const bytes = Buffer.from(`${JSON.stringify({ version: 1, files: listed }, null, 1)}\n`);
  const expect = version === undefined ? 'absent' : { version };
  const isSynced = directory === syncedAgentsDirectory;
  return (await files.write(`${directory}/${manifestName}`, bytes, { expect, isSynced })).version;
}

/** Removes the manifest when no file is synced any more. */
export async function removeSyncManifest(files: Files, directory: string): Promise<void> {
  const { signal } = new AbortController();
  const isSynced = directory === syncedAgentsDirectory;
  await files.remove(`${directory}/${manifestName}`, { recursive: false, signal, isSynced }).catch(ignorePathError);
}

/** Whether a path may be synced to the directory. */
export function maySync(directory: string, path: string): boolean {
  const names = path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..' || name.includes('\0'))) return false;
  if (names.length > syncLimits.depth + 1 || path === manifestName) return false;
  const full = `${directory}/${path}`;
  return directory === syncedAgentsDirectory ? isSyncedControlFile(full) : findControlPath(full) === undefined;
}

function rejectForeign(path: string) {
  return (thrown: unknown): undefined => {
    if (AppError.is(thrown) && ['E_TOO_LARGE', 'E_NOT_A_FILE', 'E_SANDBOX_VIOLATION'].includes(thrown.code))
      throw foreignManifestError(path);
    return ignorePathError(thrown);
  };
}

function foreignManifestError(path: string): AppError {
  const reason = 'is not the file that the server wrote; remove it to sync skills again';
  return new AppError('E_CONFLICT', `${path} ${reason}`, { details: { path } });
}
