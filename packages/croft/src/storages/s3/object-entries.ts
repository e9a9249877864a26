import { createHash } from 'node:crypto';
import { type EntryKind, emptyRoot, type TreeEntry } from '../../core/history/tree.ts';
import type { ObjectHead } from '../../core/objects.ts';

/** What stands for a file that is being removed, until the head says so: stores do not honour conditional deletes. */
export const tombstone = Buffer.from('croft: deleted\n');
export const tombstoneEtag = createHash('md5').update(tombstone).digest('hex');

/** One that somebody claimed to take it away has a body of its own, of this length. */
export function claimBody(write: string): Buffer {
  return Buffer.from(`croft: deleted ${write}\n`);
}
export const claimSize = claimBody('0123456789abcdef').length;

/** What an object says of itself. */
export interface ObjectEntry {
  readonly kind: EntryKind | 'deleted';
  readonly mode: number;
  /** Left out: it was not written by Croft. */
  readonly hash?: string | undefined;
  /** By which commit it was written. */
  readonly write?: string | undefined;
}

const kinds: readonly string[] = ['file', 'link', 'directory', 'deleted'];

/** Objects of other tools have no metadata of ours, or what somebody made up: they are plain files. */
export function describeObject({ key, metadata }: Pick<ObjectHead, 'key' | 'metadata'>): ObjectEntry {
  const { 'croft-kind': kind = '', 'croft-mode': mode = '', 'croft-hash': hash = '', 'croft-write': write } = metadata;
  const known = kinds.includes(kind) ? (kind as ObjectEntry['kind']) : 'file';
  if (known === 'deleted') return { kind: known, mode: 0, write };
  if (key.endsWith('/')) return { kind: 'directory', mode: parseMode(mode) ?? 0o755, hash: emptyRoot, write };
  const isWhole = /^[0-9a-f]{64}$/.test(hash);
  return {
    kind: known === 'link' ? 'link' : 'file',
    mode: known === 'link' ? 0o777 : (parseMode(mode) ?? 0o644),
    hash: isWhole ? hash : undefined,
    write,
  };
}

export function metadataOf({ kind, mode, hash }: TreeEntry, write: string): Record<string, string> {
  return { 'croft-kind': kind, 'croft-mode': mode.toString(8), 'croft-hash': hash, 'croft-write': write };
}

export function tombstoneMetadata(write: string): Record<string, string> {
  return { 'croft-kind': 'deleted', 'croft-write': write };
}

/** Setuid, setgid and sticky bits are not taken from a bucket: nobody in a sandbox has a use for them. */
function parseMode(mode: string): number | undefined {
  return /^[0-7]{1,4}$/.test(mode) ? Number.parseInt(mode, 8) & 0o777 : undefined;
}

export function isSameEntry(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  if (!one || !other) return one === other;
  if (one.kind !== other.kind || one.mode !== other.mode) return false;
  return one.kind === 'directory' || one.hash === other.hash;
}

/** A listing has parts of a second, and an answer has none. */
export function toSecond(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
