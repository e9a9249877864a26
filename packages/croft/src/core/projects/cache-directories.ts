import type { FileStat, Files } from '../files/files.ts';
import {
  isSameDirectory,
  type ListedDirectory,
  listDirectory,
  maxEntriesPerDirectory,
} from './list-project-directories.ts';

/** Beyond this many paths the cache is cleared: a hostile tree has no end. */
const maxCached = 4096;
/** A directory that changed this shortly before it was listed may change again with the same modification time. */
const stableMs = 2000;

interface CachedFiles {
  /** Wraps `Files` so that each path gets one `stat` per round. */
  readonly files: Files;
  /** Returns a directory as it was last listed. It is listed again only if its modification time has changed. */
  find(path: string): Promise<ListedDirectory | undefined>;
}

interface Listed {
  readonly directory: ListedDirectory | undefined;
  /** The directory's modification time, if the listing is valid for as long as that stays the same. */
  readonly stamp: number | undefined;
  round: number;
}

/**
 * Caches listings and stats for callers that need the same directories again and again. Within one `round` nothing is
 * read twice; in a later one, an unchanged directory costs a stat instead of a listing.
 */
export function cacheDirectories(files: Files, round: () => number): CachedFiles {
  const listings = new Map<string, Promise<Listed>>();
  const stats = new Map<string, { readonly round: number; readonly answer: Promise<FileStat> }>();

  function stat(path: string): Promise<FileStat> {
    const known = stats.get(path);
    if (known?.round === round()) return known.answer;
    const answer = files.stat(path);
    if (stats.size >= maxCached) stats.clear();
    stats.set(path, { round: round(), answer });
    return answer;
  }

  async function readListing(path: string, known: Listed | undefined): Promise<Listed> {
    const at = round();
    const mtimeMs = await stat(path).then(
      (found) => found.mtimeMs,
      () => undefined,
    );
    if (known?.stamp !== undefined && known.stamp === mtimeMs) return { ...known, round: at };
    const directory = await listDirectory(files, path, maxEntriesPerDirectory);
    // A storage without modification times reports 0.
    const isStable = mtimeMs !== undefined && mtimeMs > 0 && Date.now() - mtimeMs > stableMs;
    return { directory: reuseIfSame(known?.directory, directory), stamp: isStable ? mtimeMs : undefined, round: at };
  }

  async function find(path: string): Promise<ListedDirectory | undefined> {
    const pending = listings.get(path);
    const known = await pending;
    if (known?.round === round()) return known.directory;
    // Another call may be reading already.
    const newer = listings.get(path);
    if (newer && newer !== pending) return (await newer).directory;
    const reading = readListing(path, known);
    if (listings.size >= maxCached) listings.clear();
    listings.set(path, reading);
    reading.catch(() => listings.delete(path));
    return (await reading).directory;
  }

  return { files: { ...files, stat }, find };
}

/** Returns the known directory if both are equal, so that later comparisons are by identity. */
function reuseIfSame(
  known: ListedDirectory | undefined,
  found: ListedDirectory | undefined,
): ListedDirectory | undefined {
  return known && found && isSameDirectory(known, found) ? known : found;
}
