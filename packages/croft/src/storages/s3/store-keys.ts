import type { NoteKind } from '../../core/history/store.ts';

/** Everything of one history. No path of a workspace begins so: its files are below the namespace itself. */
export function storePrefix(namespace: string): string {
  return `.croft/${namespace}/`;
}

export function contentsPrefix(namespace: string): string {
  return `${storePrefix(namespace)}objects/`;
}

export function contentKey(namespace: string, hash: string): string {
  return `${contentsPrefix(namespace)}${hash.slice(0, 2)}/${hash}`;
}

/** `undefined` for what somebody else put there. */
export function hashOfKey(key: string): string | undefined {
  const hash = key.slice(key.lastIndexOf('/') + 1);
  return /^[0-9a-f]{64}$/.test(hash) ? hash : undefined;
}

export function notesPrefix(namespace: string, kind: NoteKind): string {
  return `${storePrefix(namespace)}notes/${kind}/`;
}

export function condemnedKey(namespace: string): string {
  return `${storePrefix(namespace)}condemned`;
}

/** Written to be asked when that was: the clocks of servers differ, and ages are by the clock of the service. */
export function clockKey(namespace: string, id: string): string {
  return `${storePrefix(namespace)}clock-${id}`;
}
