import { AppError } from '@croft/protocol';
import type { FileSearch, FoundFile } from '../../../core/content/search/ripgrep.ts';
import type { Files } from '../../../core/files/files.ts';
import { parentPath } from '../../../core/files/workspace-path.ts';
import { inParallel } from '../../../lib/concurrency/in-parallel.ts';
import { createTurns } from '../../../lib/concurrency/turns.ts';
import { isMarker, keyOfPath, pathOfKey } from '../layout/object-keys.ts';
import type { DirectObjects, ListedObject } from './direct-objects.ts';
import { createIgnoreFilter, type IgnoreSources, ruleFiles } from './ignore-filter.ts';

interface DirectGlobOptions {
  readonly direct: DirectObjects;
  readonly files: Files;
}

/** An object that is a file unless its metadata says that it is a link or a tombstone. */
interface Candidate {
  readonly path: string;
  readonly object: ListedObject;
}

/** Limit of one search. Larger workspaces must be searched by directory. */
const maxObjects = 1_000_000;
/** A larger object is neither a link nor a tombstone. */
const maxDoubtfulBytes = 4095;
const atOnce = 32;
const batch = 1024;

/**
 * Lists the files of a bucket as ripgrep lists those of a mount: with hidden files, with the rules of `.gitignore`,
 * without `.git` and links. Only objects small enough to be a link or a tombstone need a request each.
 */
export function createDirectGlob({ direct, files }: DirectGlobOptions) {
  return async function listFiles(search: FileSearch): Promise<{ unreadable: number }> {
    const { scope, suffix, signal } = search;
    const { candidates, ...sources } = await collect(direct, scope, signal);
    const { isIgnored } = createIgnoreFilter({ files, scope, ...sources });
    const isWanted = async ({ path }: Candidate) => {
      const shown = path.toWellFormed();
      return shown.endsWith(suffix) && search.wants(shown) && !(await isIgnored(path));
    };
    for await (const wanted of inBatches(candidates, isWanted)) {
      if (!(await search.onFiles(await onlyFiles(direct, wanted, signal)))) break;
    }
    return { unreadable: 0 };
  };
}

async function* inBatches(candidates: readonly Candidate[], isWanted: (candidate: Candidate) => Promise<boolean>) {
  const turn = createTurns();
  let wanted: Candidate[] = [];
  for (const candidate of candidates) {
    await turn();
    if (await isWanted(candidate)) wanted.push(candidate);
    if (wanted.length < batch) continue;
    yield wanted;
    wanted = [];
  }
  if (wanted.length > 0) yield wanted;
}

async function collect(direct: DirectObjects, scope: string, signal: AbortSignal) {
  const candidates: Candidate[] = [];
  const [repositories, rules] = [new Set<string>(), new Set<string>()];
  const skip = (directory: string) =>
    isGit(directory) && Boolean(repositories.add(parentPath(pathOfKey(directory) ?? '')));
  for await (const object of direct.below(keyOfPath(scope) ?? '', { skip, signal })) {
    const path = pathOfKey(object.key);
    if (isMarker(object.key) || path === undefined) continue;
    if (candidates.length >= maxObjects) throw tooMany();
    if (ruleFiles.has(nameOf(path))) rules.add(path);
    if (isGit(path)) repositories.add(parentPath(path));
    else candidates.push({ path, object });
  }
  return { candidates, repositories, rules } satisfies IgnoreSources & { candidates: Candidate[] };
}

async function onlyFiles(direct: DirectObjects, candidates: readonly Candidate[], signal: AbortSignal) {
  const files: FoundFile[] = [];
  await inParallel(candidates, atOnce, async ({ path, object }) => {
    signal.throwIfAborted();
    const isFile = object.size > maxDoubtfulBytes || (await direct.lookAt(object, signal))?.kind === 'file';
    if (isFile) files.push({ path: path.toWellFormed(), time: object.modifiedAt.getTime() });
  });
  return files;
}

function isGit(path: string): boolean {
  return nameOf(path) === '.git';
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function tooMany(): AppError {
  return new AppError('E_TOO_LARGE', `the workspace has more than ${maxObjects} files; search one of its directories`);
}
