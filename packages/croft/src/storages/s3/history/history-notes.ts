import { AppError } from '@croft/protocol';
import type { HistoryNote, NoteKind } from '../../../core/history/ports/history-store.ts';
import type { ObjectStore } from '../../../core/storage/object-store.ts';
import { inParallel } from '../../../lib/concurrency/in-parallel.ts';
import { parseJson } from '../../../lib/text/parse-json.ts';
import { readBoundedBody } from '../client/read-bounded-body.ts';
import { notesPrefix } from '../layout/history-keys.ts';

const atOnce = 32;
const maxNoteBytes = 16 << 20;

/** Stores each note of the history as one object. The last writer wins. */
export function createHistoryNotes(objects: ObjectStore, namespace: string) {
  const keyOf = (kind: NoteKind, name: string) => `${notesPrefix(namespace, kind)}${encodeURIComponent(name)}`;
  /** Notes read before, by key. The ETag in a listing tells whether a note is unchanged. */
  const read = new Map<string, { readonly etag: string; readonly note: HistoryNote }>();

  async function fetch(key: string): Promise<HistoryNote | undefined> {
    const before = read.get(key);
    const found = await objects.get(key, before ? { unlessEtag: before.etag } : {});
    if (found === 'unchanged') return before?.note;
    if (found === undefined) {
      read.delete(key);
      return undefined;
    }
    const note = toNote(await readBoundedBody(found.body, maxNoteBytes), key);
    read.set(key, { etag: found.etag, note });
    return note;
  }

  return {
    async put(kind: NoteKind, name: string, note: HistoryNote): Promise<void> {
      const bytes = Buffer.from(JSON.stringify(note));
      const sendable = { size: bytes.length, open: () => bytes };
      await objects.put(keyOf(kind, name), sendable, { contentType: 'application/json' });
    },
    get: (kind: NoteKind, name: string) => fetch(keyOf(kind, name)),
    async all(kind: NoteKind): Promise<{ name: string; note: HistoryNote }[]> {
      const found: { name: string; note: HistoryNote }[] = [];
      const prefix = notesPrefix(namespace, kind);
      for await (const page of objects.list(prefix)) {
        await inParallel(page, atOnce, async ({ key, etag }) => {
          const before = read.get(key);
          const note = before?.etag === etag ? before.note : await fetch(key);
          // A note may be removed between the listing and the read.
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

function toNote(bytes: Buffer, key: string): HistoryNote {
  const note = parseJson(bytes);
  if (typeof note === 'object' && note !== null && !Array.isArray(note)) return note as HistoryNote;
  throw new AppError('E_STORAGE_FAILED', `the object ${key} of the history in the bucket was not written by Croft`, {
    hint: 'Nothing was changed. Ask the operator to restore this object from its previous version, or to delete it.',
  });
}
