import { AppError } from '@croft/protocol';
import { cutText } from '../../lib/text/cut-text.ts';
import { decodeText } from '../../lib/text/lines/lines.ts';
import type { Files } from '../files/files.ts';
import { type MemoryEntry, renderEntry, splitMemory, toTitle } from './memory-entries.ts';

/** Memory files in order of preference: the first location is the original one, the second is newer. */
const memoryFiles = ['MEMORY.md', 'memory/MEMORY.md'] as const;

/** How much of a workspace's memory the model sees at start. It can read the rest. */
const maxShownLength = 16_000;
const maxPreambleLength = 4000;
const maxTitlesLength = 1000;
/** A larger file is not treated as a memory. */
const maxBytes = 4 * 1024 * 1024;
const maxAttempts = 20;

/** Returns `undefined` when there is no readable memory: the agent starts without one. */
export async function loadMemory(files: Files): Promise<string | undefined> {
  for (const path of memoryFiles) {
    const found = await files.read(path, { maxBytes }).catch(() => undefined);
    if (found) return cut(decodeText(found.bytes).text.trim(), path);
  }
  return undefined;
}

/** Shortens a long memory. Keeps the entries saved last, because they are current. */
function cut(text: string, path: string): string {
  if (text === '') return `(${path} exists but is empty)`;
  if (text.length <= maxShownLength) return text;
  const { preamble, entries } = splitMemory(text);
  const beginning = cutText(preamble, entries.length === 0 ? maxShownLength : maxPreambleLength);
  if (entries.length === 0) return `${beginning}\n… (${path} goes on; read it for the rest)`;
  const newest = takeNewest(entries, maxShownLength - beginning.length);
  const left = entries.slice(0, entries.length - newest.length);
  const shown = newest.map((entry) => entry.text).join('');
  return [beginning.trimEnd(), noteOfOlder(left, path), cutText(shown, maxShownLength)]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Returns the newest entries that fit, and at least one. */
function takeNewest(entries: readonly MemoryEntry[], budget: number): readonly MemoryEntry[] {
  let [first, length] = [entries.length, 0];
  while (first > 0) {
    length += entries[first - 1]?.text.length ?? 0;
    if (length > budget && first < entries.length) break;
    first -= 1;
  }
  return entries.slice(first);
}

function noteOfOlder(entries: readonly MemoryEntry[], path: string): string {
  if (entries.length === 0) return '';
  const titles = cutText(entries.map(({ title }) => title).join('; '), maxTitlesLength);
  return `(${entries.length} older entries of ${path} are left out; read it for them: ${titles})`;
}

interface SavedMemory {
  readonly path: string;
  readonly bytes: number;
  /** True when an entry of the same title existed. */
  readonly replaced: boolean;
}

/**
 * Appends an entry and removes the previous one of the same title. If two callers save at the same time, one of them
 * tries again.
 */
export async function saveMemory(files: Files, title: string, content: string): Promise<SavedMemory> {
  const [path] = memoryFiles;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const before = await files.read(path, { maxBytes }).catch(ifMissing);
    const { bytes, replaced } = withEntry(before?.bytes ?? Buffer.from('# Memory\n'), title, content);
    const expect = before ? { version: before.version } : 'absent';
    const written = await files.write(path, bytes, { expect }).catch(ifOvertaken);
    if (written) return { path: written.path, bytes: bytes.length, replaced };
  }
  throw new AppError('E_STALE', `nothing was saved: ${path} changed each time before it could be written`, {
    details: { path },
    hint: 'Save it again in a moment.',
  });
}

/** Works on Latin-1, in which every byte is a character, so that bytes that are not UTF-8 stay as they are. */
function withEntry(before: Buffer, title: string, content: string): { bytes: Buffer; replaced: boolean } {
  const { preamble, entries } = splitMemory(before.toString('latin1'));
  const wanted = Buffer.from(toTitle(title)).toString('latin1');
  const others = entries.filter((entry) => entry.title !== wanted);
  const old = Buffer.from([preamble, ...others.map(({ text }) => text)].join('').trimEnd(), 'latin1');
  const entry = Buffer.from(`\n\n${renderEntry(title, content).trim()}\n`);
  return { bytes: Buffer.concat([old, entry]), replaced: others.length < entries.length };
}

function ifMissing(thrown: unknown): undefined {
  if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return undefined;
  throw thrown;
}

function ifOvertaken(thrown: unknown): undefined {
  if (AppError.is(thrown) && (thrown.code === 'E_STALE' || thrown.code === 'E_ALREADY_EXISTS')) return undefined;
  throw thrown;
}
