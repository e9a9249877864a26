/** Least cost of a text, so that the number of texts stays small enough to search them all. */
const leastChars = 10_000;

export interface StoredText {
  readonly text: string;
  usedAt: number;
}

/** The texts of one session. */
export interface SessionTexts {
  readonly owner: string;
  readonly texts: Map<string, StoredText>;
  /** Total cost of its texts. */
  chars: number;
}

/**
 * The texts of many sessions, each of which has an owner. Tracks the total size, and chooses which text is dropped
 * first.
 */
export function createTextsBySession() {
  /** Only the sessions that have a text. */
  const holders = new Set<SessionTexts>();
  let chars = 0;

  function drop(holder: SessionTexts, id: string): void {
    const kept = holder.texts.get(id);
    if (!kept) return;
    holder.texts.delete(id);
    holder.chars -= costOf(kept);
    chars -= costOf(kept);
    if (holder.texts.size === 0) holders.delete(holder);
  }

  return {
    chars: () => chars,
    add(holder: SessionTexts, id: string, kept: StoredText): void {
      holders.add(holder);
      holder.texts.set(id, kept);
      holder.chars += costOf(kept);
      chars += costOf(kept);
    },
    drop,
    dropThose(isOver: (kept: StoredText) => boolean): void {
      for (const { holder, id, kept } of listOf([...holders])) if (isOver(kept)) drop(holder, id);
    },
    /** Drops the oldest text of these sessions, except `but`. Returns false if there is no other. */
    dropOldest(those: readonly SessionTexts[], but: string): boolean {
      const [first, ...rest] = listOf(those).filter(({ id }) => id !== but);
      if (!first) return false;
      const oldest = rest.reduce((old, one) => (one.kept.usedAt < old.kept.usedAt ? one : old), first);
      drop(oldest.holder, oldest.id);
      return true;
    },
    /** Returns the sessions of the owner with the most characters. */
    largest(): readonly SessionTexts[] {
      const byOwner = Map.groupBy(holders, ({ owner }) => owner);
      return [...byOwner.values()].reduce((most, those) => (charsOf(those) > charsOf(most) ? those : most), []);
    },
  };
}

function listOf(those: readonly SessionTexts[]) {
  return those.flatMap((holder) => Array.from(holder.texts, ([id, kept]) => ({ holder, id, kept })));
}

function charsOf(those: readonly SessionTexts[]): number {
  return those.reduce((sum, { chars }) => sum + chars, 0);
}

function costOf({ text }: StoredText): number {
  return Math.max(text.length, leastChars);
}
