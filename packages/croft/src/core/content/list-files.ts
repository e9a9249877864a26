import { AppError } from '@croft/protocol';
import type { DirectoryEntry, Files } from '../files.ts';

export interface ListedFile extends DirectoryEntry {
  /** From the root. */
  readonly path: string;
}

export interface ListOptions {
  readonly recursive: boolean;
  /** Directories of these names are left out, with what is in them. */
  readonly skip?: ReadonlySet<string> | undefined;
  /** Everything up to this path was listed before. */
  readonly after?: string | undefined;
  /** Told of a directory with more entries than are looked at. */
  onCut?(path: string): void;
}

/** Of one directory. */
const maxEntries = 100_000;

/** In order of names, a directory before what is in it; no link is followed. What goes away meanwhile is left out. */
export async function* listFiles(files: Files, path: string, options: ListOptions): AsyncGenerator<ListedFile> {
  const { after = '' } = options;
  const below = path === '' ? after : after.startsWith(`${path}/`) ? after.slice(path.length + 1) : '';
  yield* listIn(files, path, below === '' ? [] : below.split('/'), options);
}

/** The names lead from here to what was listed last. */
async function* listIn(
  files: Files,
  path: string,
  [mark, ...rest]: readonly string[],
  options: ListOptions,
): AsyncGenerator<ListedFile> {
  const entries = await readDirectory(files, path, options);
  const first = mark === undefined ? 0 : entries.findIndex(({ name }) => compareNames(name, mark) >= 0);
  for (const entry of first < 0 ? [] : entries.slice(first)) {
    const wasListed = entry.name === mark;
    if (!wasListed) yield entry;
    if (entry.kind === 'directory' && options.recursive)
      yield* ifThere(listIn(files, entry.path, wasListed ? rest : [], options));
  }
}

async function readDirectory(files: Files, path: string, { skip, onCut }: ListOptions): Promise<ListedFile[]> {
  const { entries, cut } = await files.list(path, { limit: maxEntries });
  if (cut) onCut?.(path);
  return entries
    .filter(({ name }) => !skip?.has(name))
    .map((entry) => ({ ...entry, path: path === '' ? entry.name : `${path}/${entry.name}` }));
}

/** A directory may go away, or become something else, before it is its turn. */
async function* ifThere(listed: AsyncGenerator<ListedFile>): AsyncGenerator<ListedFile> {
  try {
    yield* listed;
  } catch (thrown) {
    if (!AppError.is(thrown) || !['E_FILE_NOT_FOUND', 'E_NOT_A_DIRECTORY'].includes(thrown.code)) throw thrown;
  }
}

/** As directories are sorted: by bytes. */
function compareNames(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
