import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { findControlPath } from '../commands/control-files.ts';
import type { Files } from '../files.ts';
import { passOver } from './passed-over.ts';
import { isSyncedControl, manifestName, syncedAgents } from './places.ts';
import { syncLimits } from './source.ts';

/** A file that the server brought. */
export interface SyncedFile {
  /** What it may hold and still be as the server left it: more than one while it is being replaced. */
  readonly hashes: readonly string[];
  readonly isExecutable: boolean;
}

/** By the path below the directory. */
export type Manifest = ReadonlyMap<string, SyncedFile>;

const maxBytes = 4 * 1024 * 1024;
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const ManifestFile = z.object({
  version: z.literal(1),
  files: z
    .array(z.object({ path: z.string().min(1).max(4096), hashes: z.array(hash).max(4), isExecutable: z.boolean() }))
    .max(2 * syncLimits.files),
});

export interface KnownManifest {
  readonly files: Manifest;
  /** Of the file it was read from. Left out: there is none. */
  readonly version?: string | undefined;
}

/**
 * Whoever works in the workspace may write it. So it only ever says what may be looked at: nothing is replaced or taken
 * away that does not hold what it says, and nothing outside the directory. What is no manifest says nothing.
 */
export async function readManifest(files: Files, directory: string): Promise<KnownManifest> {
  const path = `${directory}/${manifestName}`;
  const found = await files.read(path, { maxBytes }).catch(unlessTooLarge(path));
  if (!found) return { files: new Map() };
  if (found.path !== path) throw inTheWay(path);
  const parsed = ManifestFile.safeParse(toJson(found.bytes));
  const known = parsed.success ? parsed.data.files : [];
  const own = known.filter((file) => isBelow(directory, file.path));
  return { files: new Map(own.map(({ path: name, ...file }) => [name, file])), version: found.version };
}

/** Answers the version it has then. */
export async function writeManifest(
  files: Files,
  directory: string,
  manifest: Manifest,
  version: string | undefined,
): Promise<string> {
  const listed = [...manifest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, file]) => ({ path, ...file }));
  const bytes = Buffer.from(`${JSON.stringify({ version: 1, files: listed }, null, 1)}\n`);
  const expect = version === undefined ? 'absent' : { version };
  const isSynced = directory === syncedAgents;
  return (await files.write(`${directory}/${manifestName}`, bytes, { expect, isSynced })).version;
}

/** Where nothing is the server's, nothing is said of it either. */
export async function removeManifest(files: Files, directory: string): Promise<void> {
  const { signal } = new AbortController();
  const isSynced = directory === syncedAgents;
  await files.remove(`${directory}/${manifestName}`, { recursive: false, signal, isSynced }).catch(passOver);
}

/** Whether a path is a file that could be brought to the directory. */
export function isBelow(directory: string, path: string): boolean {
  const names = path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..' || name.includes('\0'))) return false;
  if (names.length > syncLimits.depth + 1 || path === manifestName) return false;
  const full = `${directory}/${path}`;
  return directory === syncedAgents ? isSyncedControl(full) : findControlPath(full) === undefined;
}

function unlessTooLarge(path: string) {
  return (thrown: unknown): undefined => {
    if (AppError.is(thrown) && ['E_TOO_LARGE', 'E_NOT_A_FILE', 'E_SANDBOX_VIOLATION'].includes(thrown.code))
      throw inTheWay(path);
    return passOver(thrown);
  };
}

function inTheWay(path: string): AppError {
  const reason = 'is not what the server wrote there; take it away, and skills are synced again';
  return new AppError('E_CONFLICT', `${path} ${reason}`, { details: { path } });
}

function toJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
