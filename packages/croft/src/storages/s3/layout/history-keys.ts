import type { NoteKind } from '../../../core/history/ports/history-store.ts';

/**
 * Prefix of Croft's own objects for a workspace: history and head. Never collides with a file, because files are below
 * the namespace itself.
 */
export function historyPrefix(namespace: string): string {
  return `.croft/${namespace}/`;
}

export function contentsPrefix(namespace: string): string {
  return `${historyPrefix(namespace)}objects/`;
}

export function contentKey(namespace: string, hash: string): string {
  return `${contentsPrefix(namespace)}${hash.slice(0, 2)}/${hash}`;
}

/** `undefined` for an object that Croft did not put there. */
export function hashOfKey(key: string): string | undefined {
  const hash = key.slice(key.lastIndexOf('/') + 1);
  return /^[0-9a-f]{64}$/.test(hash) ? hash : undefined;
}

export function notesPrefix(namespace: string, kind: NoteKind): string {
  return `${historyPrefix(namespace)}notes/${kind}/`;
}

export function deletionListKey(namespace: string): string {
  return `${historyPrefix(namespace)}condemned`;
}

/**
 * An object that is put only to read its modification time: the clocks of servers differ, so ages are measured by the
 * clock of the service.
 */
export function clockKey(namespace: string, id: string): string {
  return `${historyPrefix(namespace)}clock-${id}`;
}
