import type { RingKey } from './keyring.ts';

/** The keys of a server, with the sealing key first. Keys may be added while the server runs. */
export interface KeyringSource {
  readonly keys: readonly RingKey[];
  /** Reads the stored keys again. Never throws: an unreadable set, or one that lacks a known key, is ignored. */
  refresh(): void;
}

/**
 * Shortest interval between two reads, so that records that no key opens cannot make a server read its key file all the
 * time.
 */
const againMs = 1000;

/** Without `read`, the keys never change. */
export function createKeyringSource(first: readonly RingKey[], read?: () => readonly RingKey[]): KeyringSource {
  let keys = first;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    get keys() {
      return keys;
    },
    refresh() {
      if (!read || performance.now() - readAt < againMs) return;
      readAt = performance.now();
      const found = readOrNone(read);
      const isMore = keys.every(({ id, key }) => found.some((one) => one.id === id && one.key.equals(key)));
      if (isMore && found.map(({ id }) => id).join() !== keys.map(({ id }) => id).join()) keys = found;
    },
  };
}

function readOrNone(read: () => readonly RingKey[]): readonly RingKey[] {
  try {
    return read();
  } catch {
    return [];
  }
}

/**
 * Returns a function that gives the result of `derive` for the current keys. The result is cached until the keys
 * change.
 */
export function deriveCached<T>(source: KeyringSource, derive: (keys: readonly RingKey[]) => T): () => T {
  let [of, made]: [readonly RingKey[], T] = [source.keys, derive(source.keys)];
  return () => {
    if (of !== source.keys) [of, made] = [source.keys, derive(source.keys)];
    return made;
  };
}

export function toKeyringSource(ring: readonly RingKey[] | KeyringSource): KeyringSource {
  return 'refresh' in ring ? ring : createKeyringSource(ring);
}
