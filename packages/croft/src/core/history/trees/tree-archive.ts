import type { Content, HistoryStore } from '../ports/history-store.ts';
import { emptyTreeHash, type PathChange, type TreeHash } from '../ports/tree.ts';
import { decodeListing } from './listing-codec.ts';

const maxInMemoryBytes = 1024 * 1024;
const batchBytes = 8 * 1024 * 1024;
const batchCount = 200;

interface Wanted {
  readonly hash: string;
  readonly size: number;
}

export type TreeArchive = ReturnType<typeof createTreeArchive>;

/**
 * Copies trees between the store of a workspace (`local`) and the store of its snapshots (`archive`), which other
 * servers can read. A listing is copied after everything that it names, so that a store with the listing also has the
 * rest. Does nothing where both are the same store.
 */
export function createTreeArchive(local: HistoryStore, archive: HistoryStore) {
  const isSeparate = local !== archive;
  return {
    /** Copies a whole tree that was captured here into the archive. */
    async put(root: TreeHash, signal: AbortSignal): Promise<void> {
      if (!isSeparate) return;
      const { listings, contents } = await walk(root, { from: local, into: archive, signal });
      const lacking = await archive.findMissing(contents.map(({ hash }) => hash));
      const gone = await local.findMissing([...lacking]);
      const wanted = contents.filter(({ hash }) => lacking.has(hash) && !gone.has(hash));
      await copy(wanted, { from: local, into: archive, signal });
      await copy(listings.reverse(), { from: local, into: archive, signal });
    },

    /** Reads a content from the store that has it. */
    async read(hash: string): Promise<Buffer> {
      const isOnlyInArchive = isSeparate && (await local.findMissing([hash])).has(hash);
      return isOnlyInArchive ? archive.read(hash) : local.read(hash);
    },

    /** Copies the listings of a tree from the archive, so that the tree can be compared with others. */
    async bringListings(root: TreeHash, signal: AbortSignal): Promise<void> {
      if (!isSeparate) return;
      const { listings } = await walk(root, { from: archive, into: local, signal });
      await copy(listings.reverse(), { from: archive, into: local, signal });
    },

    /** Copies the contents that these changes need from the archive. */
    async bringContents(changes: readonly PathChange[], signal: AbortSignal): Promise<void> {
      if (!isSeparate) return;
      const after = changes.flatMap((change) =>
        change.after && change.after.kind !== 'directory' ? [change.after] : [],
      );
      const lacking = await local.findMissing(after.map(({ hash }) => hash));
      const wanted = after.filter(({ hash }) => lacking.has(hash));
      await copy(wanted, { from: archive, into: local, signal });
    },
  };
}

interface CopyDirection {
  readonly from: HistoryStore;
  readonly into: HistoryStore;
  readonly signal: AbortSignal;
}

/** Returns the listings that `into` does not have, top first, and the contents that those listings name. */
async function walk(root: TreeHash, { from, into, signal }: CopyDirection) {
  const listings: Wanted[] = [];
  const contents: Wanted[] = [];
  const seen = new Set<string>([emptyTreeHash]);
  let level: string[] = [root];
  while (level.length > 0) {
    signal.throwIfAborted();
    const lacking = await into.findMissing(level.filter((hash) => !seen.has(hash)));
    level = [];
    for (const hash of lacking) {
      seen.add(hash);
      const bytes = await from.read(hash);
      listings.push({ hash, size: bytes.length });
      const entries = decodeListing(bytes);
      level.push(...entries.filter(({ kind }) => kind === 'directory').map((entry) => entry.hash));
      contents.push(...entries.filter(({ kind }) => kind !== 'directory'));
    }
  }
  return { listings, contents };
}

async function copy(wanted: readonly Wanted[], { from, into, signal }: CopyDirection): Promise<void> {
  const unique = [...new Map(wanted.map((one) => [one.hash, one])).values()];
  let [batch, bytes]: [Content[], number] = [[], 0];
  for (const { hash, size } of unique) {
    signal.throwIfAborted();
    const isWhole = size <= maxInMemoryBytes;
    batch.push({ hash, size, bytes: isWhole ? await from.read(hash) : () => from.open(hash) });
    bytes += isWhole ? size : 0;
    if (batch.length < batchCount && bytes < batchBytes) continue;
    await into.put(batch);
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) await into.put(batch);
}
