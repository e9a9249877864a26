/** What happened to a path. */
export interface FileChange {
  readonly path: string;
  readonly type: 'create' | 'write' | 'remove' | 'rename';
}

export type FedChange = FileChange & { readonly at: Date };

/** Where a reader is in a feed. */
export interface Cursor {
  next: number;
}

export interface ChangeFeedOptions {
  /** By what this feed is told from those before it: a number of theirs means nothing here. */
  readonly name: string;
  readonly now: () => Date;
  /** So many are kept for those who come back or are slow. */
  readonly size?: number | undefined;
}

export type ChangeFeed = ReturnType<typeof createChangeFeed>;

/** A batch for one reader, and the id after which the next begins. `isReset`: something was missed before it. */
export interface Batch {
  readonly isReset: boolean;
  readonly changes: readonly { readonly id: string; readonly change: FedChange }[];
  readonly id: string;
}

const defaultSize = 1024;
const maxBatch = 128;

/**
 * The last changes of a workspace, once for all who read them. A reader is no more than a number: one that is slow costs
 * nothing, and one that is too slow is told so.
 */
export function createChangeFeed({ name, now, size = defaultSize }: ChangeFeedOptions) {
  const ring: FedChange[] = [];
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

    /** From now on, or from after the id that was seen last. Without a number of this feed, something was missed. */
    enter(lastId: string | undefined): Cursor {
      if (lastId === undefined || lastId === '') return { next: end() };
      const [, number] = lastId.startsWith(`${name}-`) ? (/-(\d{1,15})$/.exec(lastId) ?? []) : [];
      const next = number === undefined ? -1 : Number(number);
      return { next: next > end() ? -1 : next };
    },

    /** What is there for the reader, which has it then; `undefined`: nothing yet. */
    take(cursor: Cursor): Batch | undefined {
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
