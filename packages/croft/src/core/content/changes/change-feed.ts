/** A change of one path. */
export interface FileChange {
  readonly path: string;
  readonly type: 'create' | 'write' | 'remove' | 'rename';
}

type TimedChange = FileChange & { readonly at: Date };

/** The position of a reader in a feed. */
interface FeedCursor {
  next: number;
}

interface ChangeFeedOptions {
  /** Part of the ids of this feed. Ids of an earlier feed have another name and mean nothing here. */
  readonly name: string;
  readonly now: () => Date;
  /** How many changes are stored for readers that come back or are slow. */
  readonly size?: number | undefined;
}

export type ChangeFeed = ReturnType<typeof createChangeFeed>;

/**
 * Changes for one reader, and the id after which the next batch begins. `isReset`: the reader missed changes before it.
 */
export interface ChangeBatch {
  readonly isReset: boolean;
  readonly changes: readonly { readonly id: string; readonly change: TimedChange }[];
  readonly id: string;
}

const defaultSize = 1024;
const maxBatch = 128;

/**
 * The last changes of a workspace, stored once for all readers. A reader is only a number: a slow one costs nothing,
 * and one that is too slow gets `isReset`.
 */
export function createChangeFeed({ name, now, size = defaultSize }: ChangeFeedOptions) {
  const ring: TimedChange[] = [];
  let first = 0;
  let wake = Promise.withResolvers<void>();
  const end = () => first + ring.length;
  const toId = (next: number) => `${name}-${next}`;

  return {
    push(changes: readonly FileChange[]): void {
      if (changes.length === 0) return;
      const at = now();
      for (const change of changes) ring.push({ ...change, at });
      const over = Math.max(0, ring.length - size);
      ring.splice(0, over);
      first += over;
      wake.resolve();
      wake = Promise.withResolvers<void>();
    },

    /** Starts a reader now, or after the id that it saw last. An unknown id means that it missed changes. */
    enter(lastId: string | undefined): FeedCursor {
      if (lastId === undefined || lastId === '') return { next: end() };
      const [, number] = lastId.startsWith(`${name}-`) ? (/-(\d{1,15})$/.exec(lastId) ?? []) : [];
      const next = number === undefined ? -1 : Number(number);
      return { next: next > end() ? -1 : next };
    },

    /** Returns the next changes for a reader and advances it; `undefined` if there are none yet. */
    take(cursor: FeedCursor): ChangeBatch | undefined {
      const isReset = cursor.next < first;
      if (isReset) cursor.next = end();
      const from = cursor.next - first;
      const changes = ring.slice(from, from + maxBatch).map((change, index) => ({
        id: toId(cursor.next + index + 1),
        change,
      }));
      cursor.next += changes.length;
      return isReset || changes.length > 0 ? { isReset, changes, id: toId(cursor.next) } : undefined;
    },

    /** Resolves when there may be more. */
    more: (): Promise<void> => wake.promise,
  };
}
