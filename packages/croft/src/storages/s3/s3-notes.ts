import { AppError } from '@croft/protocol';
import type { Note, NoteKind } from '../../core/history/store.ts';
import type { ObjectStore } from '../../core/objects.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { parseJson } from './json-objects.ts';
import { readBounded } from './read-bounded.ts';
import { notesPrefix } from './store-keys.ts';

const atOnce = 32;
const maxNoteBytes = 16 << 20;

/** One object a note. The last one who writes it counts. */
export function createNotes(objects: ObjectStore, namespace: string) {
  const keyOf = (kind: NoteKind, name: string) => `${notesPrefix(namespace, kind)}${encodeURIComponent(name)}`;
  /** By key: a listing tells which of them are still what they were. */
  const read = new Map<string, { readonly etag: string; readonly note: Note }>();

  async function fetch(key: string): Promise<Note | undefined> {
    const before = read.get(key);
    const found = await objects.get(key, before ? { unlessEtag: before.etag } : {});
    if (found === 'unchanged') return before?.note;
    if (found === undefined) {
      read.delete(key);
      return undefined;
    }
    const note = toNote(await readBounded(found.body, maxNoteBytes));
    read.set(key, { etag: found.etag, note });
    return note;
  }

  return {
    async put(kind: NoteKind, name: string, note: Note): Promise<void> {
      const bytes = Buffer.from(JSON.stringify(note));
      const sendable = { size: bytes.length, open: () => bytes };
      await objects.put(keyOf(kind, name), sendable, { contentType: 'application/json' });
    },
    get: (kind: NoteKind, name: string) => fetch(keyOf(kind, name)),
    async all(kind: NoteKind): Promise<{ name: string; note: Note }[]> {
      const found: { name: string; note: Note }[] = [];
      const prefix = notesPrefix(namespace, kind);
      for await (const page of objects.list(prefix)) {
        await inParallel(page, atOnce, async ({ key, etag }) => {
          const before = read.get(key);
          const note = before?.etag === etag ? before.note : await fetch(key);
          // One may go between being listed and being read.
          if (note) found.push({ name: decodeURIComponent(key.slice(prefix.length)), note });
        });
      }
      return found.sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    async drop(kind: NoteKind, names: readonly string[]): Promise<void> {
      const keys = names.map((name) => keyOf(kind, name));
      await objects.remove(keys);
      for (const key of keys) read.delete(key);
    },
  };
}

function toNote(bytes: Buffer): Note {
  const note = parseJson(bytes);
  if (typeof note === 'object' && note !== null && !Array.isArray(note)) return note as Note;
  throw new AppError('E_STORAGE_FAILED', 'a note of the history in the bucket is not one that Croft wrote');
}
