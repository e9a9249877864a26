import type { ChainLink } from '../ports/audit-chain.ts';
import type { AuditHead, HeadSeal } from './audit-head.ts';

/** Stores the head. Must be somewhere else than the rows. */
export interface AuditHeadStore {
  readonly name: string;
  read(): string | undefined;
  /** Must be atomic. */
  write(text: string): Promise<void>;
}

/** The stored head, which only advances. */
export function createSignedAuditHead(seal: HeadSeal, store: AuditHeadStore, now: () => Date) {
  /** The head that this process last read or wrote. */
  let head: AuditHead | undefined;

  return {
    get: (): AuditHead | undefined => head,
    /** Reads the head again. Returns false for a head that no key of this server has signed. */
    load(): boolean {
      const text = store.read();
      head = text === undefined ? undefined : seal.open(text);
      return text === undefined || head !== undefined;
    },
    async advance(to: ChainLink): Promise<void> {
      // Another process with the same data directory may have written a later head.
      const other = seal.open(store.read() ?? '');
      if (!other?.cut && (other?.rows ?? 0) <= to.rows) await write(to);
    },
    /** Freezes the head at the missing row, so that a verification finds it missing. */
    freeze: (gone: ChainLink, found: ChainLink): Promise<void> =>
      write(gone, { rows: found.rows, at: now().toISOString() }),
    /** Starts anew from here, whatever the head was before. */
    async restart(from: ChainLink): Promise<void> {
      head = undefined;
      await write(from);
    },
  };

  async function write({ rows, hash }: ChainLink, cut?: AuditHead['cut']): Promise<void> {
    const at = now().toISOString();
    head = { rows, hash, at, since: head?.since ?? { rows, at }, ...(cut && { cut }) };
    await store.write(seal.seal(head));
  }
}
