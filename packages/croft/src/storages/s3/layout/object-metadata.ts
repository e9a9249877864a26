import { createHash } from 'node:crypto';
import { type EntryKind, emptyTreeHash, type TreeEntry } from '../../../core/history/ports/tree.ts';
import type { ObjectHead } from '../../../core/storage/object-store.ts';

/**
 * Body of a tombstone, which replaces a file that is being removed until the head says so: stores do not honour
 * conditional deletes.
 */
export const tombstone = Buffer.from('croft: deleted\n');
export const tombstoneEtag = createHash('md5').update(tombstone).digest('hex');

/** Body of a claimed tombstone: unique per claim, and always of this length. */
export function claimBody(write: string): Buffer {
  return Buffer.from(`croft: deleted ${write}\n`);
}
export const claimSize = claimBody('0123456789abcdef').length;

/** The parsed metadata of an object. */
export interface ObjectDescription {
  readonly kind: EntryKind | 'deleted';
  readonly mode: number;
  /** Missing if Croft did not write the object. */
  readonly hash?: string | undefined;
  /** Id of the commit that wrote the object. */
  readonly write?: string | undefined;
}

const kinds: readonly string[] = ['file', 'link', 'directory', 'deleted'];

/**
 * Parses the metadata of an object. Objects of other tools have none of ours, or made-up values: they count as plain
 * files.
 */
export function describeObject({ key, metadata }: Pick<ObjectHead, 'key' | 'metadata'>): ObjectDescription {
  const { 'croft-kind': kind = '', 'croft-mode': mode = '', 'croft-hash': hash = '', 'croft-write': write } = metadata;
  const known = kinds.includes(kind) ? (kind as ObjectDescription['kind']) : 'file';
  if (known === 'deleted') return { kind: known, mode: 0, write };
  if (key.endsWith('/')) return { kind: 'directory', mode: parseMode(mode) ?? 0o755, hash: emptyTreeHash, write };
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

/** Ignores setuid, setgid and sticky bits from a bucket: nothing in a sandbox needs them. */
function parseMode(mode: string): number | undefined {
  return /^[0-7]{1,4}$/.test(mode) ? Number.parseInt(mode, 8) & 0o777 : undefined;
}

export function isSameEntry(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  if (!one || !other) return one === other;
  if (one.kind !== other.kind || one.mode !== other.mode) return false;
  return one.kind === 'directory' || one.hash === other.hash;
}

/** Rounds down to seconds: a listing has fractions of a second, a HEAD answer has none. */
export function toSecond(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
