import { AppError } from '@croft/protocol';
import type { ByteRange, FileContent, FileStat, Files, FileVersion, OpenFile } from '../../core/files.ts';
import type { ObjectStore, StoredObject } from '../../core/objects.ts';
import { missing } from '../../core/path-errors.ts';
import { listDirect } from './direct-list.ts';
import { createDirectObjects, type DirectObjects, type Seen } from './direct-objects.ts';
import { type DirectPlace, walkDirect } from './direct-walk.ts';
import { describeObject } from './object-entries.ts';

export interface S3FilesOptions {
  readonly objects: ObjectStore;
  readonly namespace: string;
  /** Absolute names of the root that callers and links may use. */
  readonly names: readonly string[];
  /** Shared with whoever lists the files of the same workspace. Left out: its own. */
  readonly direct?: DirectObjects | undefined;
}

const maxWholeBytes = 64 * 1024 * 1024;

/** `Files` straight from a bucket: nothing of it is on this machine, and nothing of it can be changed from here. */
export function createS3Files({ objects, namespace, names, direct: shared }: S3FilesOptions): Files {
  const direct = shared ?? createDirectObjects(objects, namespace);
  const times = new Map<string, number>();
  const walk = (path: string) => walkDirect(direct, names, path);

  /** Throws for what is not what was found any more: what is read is of one moment. */
  async function fetch({ path, file }: RegularPlace, range?: ByteRange): Promise<StoredObject> {
    const options = range ? { range: { start: range.start, end: range.end - 1 } } : {};
    const found = await objects.get(`${namespace}/${file.key}`, options);
    if (found === undefined || found === 'unchanged') throw missing(path);
    if (describeObject(found).kind === 'file' && found.etag === file.etag) return found;
    found.body.destroy();
    throw new AppError('E_STALE', `it was changed while it was read: ${path}`, { details: { path } });
  }

  return {
    stat: async (path) => toStat(await walk(path)),
    async read(path, { maxBytes = maxWholeBytes } = {}): Promise<FileContent> {
      const place = regular(await walk(path), path);
      if (place.file.size > maxBytes) throw tooLarge(path, place.file.size, maxBytes);
      const bytes = Buffer.concat(await Array.fromAsync((await fetch(place)).body as AsyncIterable<Buffer>));
      return { ...toVersion(place), bytes };
    },
    async open(path): Promise<OpenFile> {
      const place = regular(await walk(path), path);
      async function* chunks({ start, end }: ByteRange = { start: 0, end: place.file.size }) {
        const range = { start, end: Math.min(end, place.file.size) };
        if (range.start >= range.end) return;
        const { body } = await fetch(place, range);
        yield* body as AsyncIterable<Buffer>;
      }
      return { stat: toStat(place), chunks, [Symbol.asyncDispose]: async () => {} };
    },
    async version(path): Promise<FileVersion | undefined> {
      const place = await walk(path).catch(ifMissing);
      return place && toVersion(regular(place, path));
    },
    async list(path, { limit }) {
      const place = await walk(path);
      if (place.file)
        throw new AppError('E_NOT_A_DIRECTORY', `path is not a directory: ${path}`, { details: { path } });
      const { entries, cut } = await listDirect(direct, place.key, limit);
      times.clear();
      for (const { name, mtimeMs } of entries) times.set(place.path === '' ? name : `${place.path}/${name}`, mtimeMs);
      return { path: place.path, entries: entries.map(({ mtimeMs: _, ...entry }) => entry), cut };
    },
    // Known of what was listed last, and nothing can be asked without waiting.
    modifiedTimes: async (paths) => paths.map((path) => times.get(path) ?? 0),
    write: refuse,
    change: refuse,
    upload: refuse,
    remove: refuse,
    rename: refuse,
  };
}

type RegularPlace = DirectPlace & { readonly file: Seen };

function regular(place: DirectPlace, path: string): RegularPlace {
  const { file } = place;
  if (!file) throw new AppError('E_NOT_A_FILE', `path is a directory: ${path}`, { details: { path } });
  return { ...place, file };
}

function toStat({ path, file }: DirectPlace): FileStat {
  if (!file) return { path, kind: 'directory', size: 0, mtimeMs: 0 };
  return { path, kind: 'file', size: file.size, mtimeMs: file.modifiedAt.getTime() };
}

/** By its ETag, which is another for other bytes. */
function toVersion(place: RegularPlace): FileVersion {
  return { ...toStat(place), version: `etag-${place.file.etag}` };
}

function ifMissing(thrown: unknown): undefined {
  if (!AppError.is(thrown) || thrown.code !== 'E_FILE_NOT_FOUND') throw thrown;
}

async function refuse(): Promise<never> {
  throw new AppError('E_READ_ONLY', 'workspace is read-only: it has no sandbox, and is read straight from its storage');
}

function tooLarge(path: string, size: number, max: number): AppError {
  return new AppError('E_TOO_LARGE', `file is too large: ${path} (${size} bytes, at most ${max})`, {
    details: { path, size, max },
  });
}
