import { decodeListing } from './listing.ts';
import type { Content, HistoryStore } from './store.ts';
import { emptyRoot, type PathChange, type Root } from './tree.ts';

const heldBytes = 1024 * 1024;
const batchBytes = 8 * 1024 * 1024;
const batchCount = 200;

interface Wanted {
  readonly hash: string;
  readonly size: number;
}

export type Archive = ReturnType<typeof createArchive>;

/**
 * Snapshots may be kept elsewhere than what a workspace works with: where other servers find them. A listing is copied
 * after all that it names, so that whoever has it has the rest.
 */
export function createArchive(local: HistoryStore, archive: HistoryStore) {
  const isElsewhere = local !== archive;
  return {
    /** The whole of a tree that was captured here. */
    async put(root: Root, signal: AbortSignal): Promise<void> {
      if (!isElsewhere) return;
      const { listings, contents } = await walk(root, { from: local, into: archive, signal });
      const lacking = await archive.lacks(contents.map(({ hash }) => hash));
      const gone = await local.lacks([...lacking]);
      const wanted = contents.filter(({ hash }) => lacking.has(hash) && !gone.has(hash));
      await copy(wanted, { from: local, into: archive, signal });
      await copy(listings.reverse(), { from: local, into: archive, signal });
    },

    /** A content, from wherever it is. */
    async read(hash: string): Promise<Buffer> {
      const isThere = isElsewhere && (await local.lacks([hash])).has(hash);
      return isThere ? archive.read(hash) : local.read(hash);
    },

    /** What is needed to compare with it. */
    async bringListings(root: Root, signal: AbortSignal): Promise<void> {
      if (!isElsewhere) return;
      const { listings } = await walk(root, { from: archive, into: local, signal });
      await copy(listings.reverse(), { from: archive, into: local, signal });
    },

    /** What is needed to make these changes. */
    async bringContents(changes: readonly PathChange[], signal: AbortSignal): Promise<void> {
      if (!isElsewhere) return;
      const after = changes.flatMap((change) =>
        change.after && change.after.kind !== 'directory' ? [change.after] : [],
      );
      const lacking = await local.lacks(after.map(({ hash }) => hash));
      const wanted = after.filter(({ hash }) => lacking.has(hash));
      await copy(wanted, { from: archive, into: local, signal });
    },
  };
}

interface Way {
  readonly from: HistoryStore;
  readonly into: HistoryStore;
  readonly signal: AbortSignal;
}

/** The listings that are lacking, those of the top first, and what they name. */
async function walk(root: Root, { from, into, signal }: Way) {
  const listings: Wanted[] = [];
  const contents: Wanted[] = [];
  const seen = new Set<string>([emptyRoot]);
  let level: string[] = [root];
  while (level.length > 0) {
    signal.throwIfAborted();
    const lacking = await into.lacks(level.filter((hash) => !seen.has(hash)));
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

async function copy(wanted: readonly Wanted[], { from, into, signal }: Way): Promise<void> {
  const unique = [...new Map(wanted.map((one) => [one.hash, one])).values()];
  let [batch, bytes]: [Content[], number] = [[], 0];
  for (const { hash, size } of unique) {
    signal.throwIfAborted();
    const held = size <= heldBytes;
    batch.push({ hash, size, bytes: held ? await from.read(hash) : () => from.open(hash) });
    bytes += held ? size : 0;
    if (batch.length < batchCount && bytes < batchBytes) continue;
    await into.keep(batch);
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) await into.keep(batch);
}
