import { gitBulk } from '../../core/control-files/control-file-names.ts';
import type { FileKind } from '../../core/files/files.ts';
import { addon } from '../paths/native-addon.ts';
import { findEntriesByNameInSteps } from './find-entries-by-name-in-steps.ts';

/** Limits of the search, in levels and in entries. */
const maxDepth = 256;
const maxEntries = 4_000_000;
const skipped = ['node_modules'];

/** A directory, by its path from the root, and the wanted names in it. */
export interface NamedEntries {
  readonly path: string;
  readonly kinds: ReadonlyMap<string, FileKind>;
}

/**
 * Finds the directories of a tree that have one of the wanted names, or are named `.git`; those nearest to the root
 * come first. A name that begins with `*` stands for all names that end with the rest of it. The tree is walked on
 * another thread, because a large one has thousands of directories.
 */
export async function findEntriesByName(handle: number, wanted: readonly string[]): Promise<NamedEntries[]> {
  const join = (names: Iterable<string>) => [...names].join('/');
  const found = await addon?.findNames(handle, join(wanted), join(skipped), join(gitBulk), maxDepth, maxEntries);
  return found ? decode(found) : findEntriesByNameInSteps(handle, { maxDepth, maxEntries, skipped });
}

const letters: Readonly<Record<string, FileKind>> = { d: 'directory', l: 'link', f: 'file' };

/** Reads the records that `native/files/find-names.h` describes. */
function decode(found: Buffer): NamedEntries[] {
  const directories: NamedEntries[] = [];
  for (let at = 0; at < found.length; ) {
    const end = found.indexOf(0, at);
    const path = found.toString('utf8', at, end);
    const kinds = new Map<string, FileKind>();
    for (at = end + 1; found[at] !== 0; ) {
      const nameEnd = found.indexOf(0, at);
      kinds.set(found.toString('utf8', at + 1, nameEnd), letters[found.toString('latin1', at, at + 1)] ?? 'other');
      at = nameEnd + 1;
    }
    at += 1;
    directories.push({ path, kinds });
  }
  return directories;
}
