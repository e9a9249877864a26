import { AppError } from '@croft/protocol';
import type { DirectoryEntry, Files } from '../files/files.ts';

export interface ListedFile extends DirectoryEntry {
  /** Path from the root. */
  readonly path: string;
}

interface ListFilesOptions {
  readonly recursive: boolean;
  /** Directories of these names are skipped. */
  readonly skip?: ReadonlySet<string> | undefined;
  /** Continues after this path. */
  readonly after?: string | undefined;
  /** Called for a directory with more entries than are read. */
  onCut?(path: string): void;
}

/** Limit per directory. */
const maxEntries = 100_000;

/** Lists files by name, a directory before its contents. Follows no link, and skips what disappears meanwhile. */
export async function* listFiles(files: Files, path: string, options: ListFilesOptions): AsyncGenerator<ListedFile> {
  const { after = '' } = options;
  const below = path === '' ? after : after.startsWith(`${path}/`) ? after.slice(path.length + 1) : '';
  yield* listIn(files, path, below === '' ? [] : below.split('/'), options);
}

/** `mark` and `rest` are the names from here to the entry that was listed last. */
async function* listIn(
  files: Files,
  path: string,
  [mark, ...rest]: readonly string[],
  options: ListFilesOptions,
): AsyncGenerator<ListedFile> {
  const entries = await readDirectory(files, path, options);
  const first = mark === undefined ? 0 : entries.findIndex(({ name }) => compareNames(name, mark) >= 0);
  for (const entry of first < 0 ? [] : entries.slice(first)) {
    const wasListed = entry.name === mark;
    if (!wasListed) yield entry;
    if (entry.kind === 'directory' && options.recursive)
      yield* skipIfGone(listIn(files, entry.path, wasListed ? rest : [], options));
  }
}

async function readDirectory(files: Files, path: string, { skip, onCut }: ListFilesOptions): Promise<ListedFile[]> {
  const { entries, cut } = await files.list(path, { limit: maxEntries });
  if (cut) onCut?.(path);
  return entries
    .filter(({ name }) => !skip?.has(name))
    .map((entry) => ({ ...entry, path: path === '' ? entry.name : `${path}/${entry.name}` }));
}

/** Skips a directory that disappears, or becomes something else, before it is listed. */
async function* skipIfGone(listed: AsyncGenerator<ListedFile>): AsyncGenerator<ListedFile> {
  try {
    yield* listed;
  } catch (thrown) {
    if (!AppError.is(thrown) || !['E_FILE_NOT_FOUND', 'E_NOT_A_DIRECTORY'].includes(thrown.code)) throw thrown;
  }
}

/** Compares by bytes, as directories are sorted. */
function compareNames(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
