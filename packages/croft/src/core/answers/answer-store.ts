import { type AnswerPages, pageOf, parseCursor, toCursor, unknownCursor } from './answer-pages.ts';
import { createTextsBySession, type SessionTexts, type StoredText } from './texts-by-session.ts';

interface AnswerStoreOptions {
  /** Characters of all answers together. */
  readonly maxChars?: number | undefined;
  now?(): number;
}

/** Characters of all stored answers of one session. */
const maxOwnChars = 1_000_000;
/** Characters for all sessions. A character takes two bytes at most. */
const maxAllChars = 32_000_000;
/** An answer that has not been read for this time is dropped. */
const ttlMs = 30 * 60_000;
const sweepMs = 60_000;

export type AnswerStore = ReturnType<typeof createAnswerStore>;

/**
 * Stores the long answers of all sessions of a server within one limit. A session can read only its own. Above the
 * limit, the owner with the most characters loses its oldest answer: no account can displace another's answers.
 */
export function createAnswerStore({ maxChars = maxAllChars, now = Date.now }: AnswerStoreOptions = {}) {
  const texts = createTextsBySession();
  let sweptAt = now();
  const isOver = ({ usedAt }: StoredText) => now() - usedAt > ttlMs;

  /** Drops answers until the limits hold. Keeps the newest, because its client is about to get a cursor for it. */
  function evict(newest: string, own: SessionTexts): void {
    if (now() - sweptAt > sweepMs) {
      sweptAt = now();
      texts.dropThose(isOver);
    }
    while (own.chars > maxOwnChars && texts.dropOldest([own], newest));
    while (texts.chars() > maxChars && texts.dropOldest(texts.largest(), newest));
  }

  return {
    open(owner: string): AnswerPages {
      const ownTexts: SessionTexts = { owner, texts: new Map(), chars: 0 };
      return {
        store(text) {
          const id = crypto.randomUUID().slice(0, 8);
          texts.add(ownTexts, id, { text, usedAt: now() });
          evict(id, ownTexts);
          return (from, to) => toCursor({ id, from, to });
        },
        read(written) {
          const cursor = parseCursor(written);
          const stored = cursor && ownTexts.texts.get(cursor.id);
          if (!cursor || !stored || isOver(stored)) throw unknownCursor(written);
          if (cursor.from >= cursor.to || cursor.to > stored.text.length) throw unknownCursor(written);
          stored.usedAt = now();
          return pageOf(stored.text, cursor);
        },
        close() {
          for (const id of ownTexts.texts.keys()) texts.drop(ownTexts, id);
        },
      };
    },
  };
}
