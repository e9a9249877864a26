import { AppError } from '@croft/protocol';
import type { FileSearch, FoundFile } from '../../core/content/ripgrep.ts';
import type { Files } from '../../core/files.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { createIgnoring, type IgnoreSources, parentOf, ruleFiles } from './direct-ignores.ts';
import type { DirectObjects, ListedObject } from './direct-objects.ts';
import { isMarker, keyOf, pathOf } from './keys.ts';

export interface DirectGlobOptions {
  readonly direct: DirectObjects;
  readonly files: Files;
}

/** An object that is a file unless it is a link or being removed. */
interface Candidate {
  readonly path: string;
  readonly object: ListedObject;
}

/** What is held of one search; a workspace of more is searched by directory. */
const maxObjects = 1_000_000;
/** What is larger can be no link and is not being removed. */
const maxDoubtfulBytes = 4095;
const atOnce = 32;
const batch = 1024;

/**
 * Lists the files of a bucket as ripgrep does those of a mount: hidden files, the rules of `.gitignore`, no `.git`, no
 * links. Only what may be a link or is being removed has to be asked for one by one.
 */
export function createDirectGlob({ direct, files }: DirectGlobOptions) {
  return async function listFiles(search: FileSearch): Promise<{ unreadable: number }> {
    const { scope, suffix, signal } = search;
    const { candidates, ...sources } = await collect(direct, scope, signal);
    const { isIgnored } = createIgnoring({ files, scope, ...sources });
    const isWanted = async ({ path }: Candidate) => {
      const shown = path.toWellFormed();
      return shown.endsWith(suffix) && search.wants(shown) && !(await isIgnored(path));
    };
    for await (const wanted of inBatches(candidates, isWanted)) {
      if (!search.onFiles(await onlyFiles(direct, wanted, signal))) break;
    }
    return { unreadable: 0 };
  };
}

async function* inBatches(candidates: readonly Candidate[], isWanted: (candidate: Candidate) => Promise<boolean>) {
  let wanted: Candidate[] = [];
  for (const candidate of candidates) {
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
  const skip = (directory: string) => isGit(directory) && Boolean(repositories.add(parentOf(pathOf(directory) ?? '')));
  for await (const object of direct.below(keyOf(scope) ?? '', { skip, signal })) {
    const path = pathOf(object.key);
    if (isMarker(object.key) || path === undefined) continue;
    if (candidates.length >= maxObjects) throw tooMany();
    if (ruleFiles.has(nameOf(path))) rules.add(path);
    if (isGit(path)) repositories.add(parentOf(path));
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
  return new AppError('E_TOO_LARGE', `more than ${maxObjects} files are in it; search a directory of it`);
}
