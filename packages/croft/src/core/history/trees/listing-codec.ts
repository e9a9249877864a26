import { AppError } from '@croft/protocol';
import type { EntryKind, TreeEntry } from '../ports/tree.ts';
import { fromRaw, type RawName, toRaw } from './raw-names.ts';

export interface ListedEntry extends TreeEntry {
  /** One path component, in the form of `TreePath`. */
  readonly name: string;
}

/** A listed entry whose name is in bytes. */
export interface RawEntry extends TreeEntry {
  readonly name: RawName;
}

const letters: Readonly<Record<EntryKind, string>> = { file: 'f', link: 'l', directory: 'd' };
const kinds: ReadonlyMap<string, EntryKind> = new Map([
  ['f', 'file'],
  ['l', 'link'],
  ['d', 'directory'],
]);
const linkMode = 0o777;
const maxNameBytes = 255;
const line = /^([fld])([0-7]{1,3}) (0|[1-9][0-9]{0,15}) ([0-9a-f]{64}) (.+)$/s;

/**
 * Encodes a directory: one line per entry, sorted by the bytes of the names. A line is `f644 12 <hash> name`, where a
 * newline in the name is `\n` and a backslash `\\`. A directory has exactly one encoding, so equal directories have
 * equal hashes.
 */
export function encodeListing(entries: Iterable<ListedEntry>): Buffer {
  const raw = [...entries].map((entry) => ({ ...entry, name: toRaw(entry.name) }));
  return encodeRawListing(raw.sort(byName));
}

/** Encodes entries that are already sorted. */
export function encodeRawListing(entries: readonly RawEntry[]): Buffer {
  return Buffer.from(entries.map((entry) => lineOf(entry)).join(''), 'latin1');
}

export function lineOf({ name, kind, mode, size, hash }: RawEntry): string {
  const bits = kind === 'link' ? linkMode : mode & 0o777;
  return `${letters[kind]}${bits.toString(8)} ${kind === 'directory' ? 0 : size} ${hash} ${toLine(name)}\n`;
}

/** Throws `E_STORAGE_FAILED` for bytes that `encodeListing` cannot have made. */
export function decodeListing(bytes: Uint8Array): ListedEntry[] {
  return decodeRawListing(bytes).map((entry) => ({ ...entry, name: fromRaw(entry.name) }));
}

export function decodeRawListing(bytes: Uint8Array): RawEntry[] {
  if (bytes.byteLength === 0) return [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (!text.endsWith('\n')) throw broken();
  const entries = text.slice(0, -1).split('\n').map(parseLine);
  for (const [at, entry] of entries.entries())
    if (at > 0 && entry.name <= (entries[at - 1]?.name ?? '')) throw broken();
  return entries;
}

function parseLine(text: string): RawEntry {
  const [, letter = '', mode = '', size = '', hash = '', name = ''] = line.exec(text) ?? [];
  const kind = kinds.get(letter);
  if (kind === undefined) throw broken();
  const entry = { name: fromLine(name), kind, mode: Number.parseInt(mode, 8), size: Number(size), hash };
  // Another encoding of the same entry would have another hash.
  if (!isName(entry.name) || !Number.isSafeInteger(entry.size) || lineOf(entry) !== `${text}\n`) throw broken();
  return entry;
}

/**
 * Whether a directory can contain this name. A hostile listing must not lead outside its directory when it is restored.
 */
export function isName(raw: RawName): boolean {
  if (raw === '' || raw === '.' || raw === '..' || raw.length > maxNameBytes) return false;
  return !raw.includes('/') && !raw.includes('\0');
}

function toLine(name: RawName): string {
  if (!name.includes('\\') && !name.includes('\n')) return name;
  return name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function fromLine(text: string): RawName {
  if (!text.includes('\\')) return text;
  return text.replaceAll(/\\(\\|n)/g, (_, what) => (what === 'n' ? '\n' : '\\'));
}

export function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}

function broken(): AppError {
  return new AppError('E_STORAGE_FAILED', 'a directory listing in the history store is damaged and cannot be trusted');
}
