import { AppError } from '@croft/protocol';
import type { ByteRange, FileContent, FileStat, Files, FileVersion, OpenFile } from '../../../core/files/files.ts';
import { fileNotFound, fileTooLarge } from '../../../core/files/path-errors.ts';
import type { ObjectStore, StoredObject } from '../../../core/storage/object-store.ts';
import { describeObject } from '../layout/object-metadata.ts';
import { createDirectObjects, type DirectObject, type DirectObjects } from './direct-objects.ts';
import { listBucketDirectory } from './list-directory.ts';
import { type ResolvedObject, resolveInBucket } from './resolve-in-bucket.ts';

interface S3FilesOptions {
  readonly objects: ObjectStore;
  readonly namespace: string;
  /** Absolute paths of the root that callers and links may use. */
  readonly names: readonly string[];
  /** Shared with the glob of the same workspace. Defaults to a new one. */
  readonly direct?: DirectObjects | undefined;
}

const maxWholeBytes = 64 * 1024 * 1024;

/** `Files` read straight from a bucket, without a mount: nothing is on this machine, and nothing can be changed. */
export function createS3Files({ objects, namespace, names, direct: shared }: S3FilesOptions): Files {
  const direct = shared ?? createDirectObjects(objects, namespace);
  const times = new Map<string, number>();
  const walk = (path: string) => resolveInBucket(direct, names, path);

  /** Fetches exactly the object that was resolved. Throws if it changed since. */
  async function fetch({ path, file }: ResolvedFile, range?: ByteRange): Promise<StoredObject> {
    const options = range ? { range: { start: range.start, end: range.end - 1 } } : {};
    const found = await objects.get(`${namespace}/${file.key}`, options);
    if (found === undefined || found === 'unchanged') throw fileNotFound(path);
    if (describeObject(found).kind === 'file' && found.etag === file.etag) return found;
    found.body.destroy();
    throw new AppError('E_STALE', `${path} was changed while it was read`, {
      details: { path },
      hint: 'Nothing was changed here. Read the file again.',
    });
  }

  return {
    stat: async (path) => toStat(await walk(path)),
    async read(path, { maxBytes = maxWholeBytes } = {}): Promise<FileContent> {
      const resolved = mustBeResolvedFile(await walk(path), path);
      if (resolved.file.size > maxBytes) throw fileTooLarge(path, resolved.file.size, maxBytes);
      const bytes = Buffer.concat(await Array.fromAsync((await fetch(resolved)).body as AsyncIterable<Buffer>));
      return { ...toVersion(resolved), bytes };
    },
    async open(path): Promise<OpenFile> {
      const resolved = mustBeResolvedFile(await walk(path), path);
      async function* chunks({ start, end }: ByteRange = { start: 0, end: resolved.file.size }) {
        const range = { start, end: Math.min(end, resolved.file.size) };
        if (range.start >= range.end) return;
        const { body } = await fetch(resolved, range);
        yield* body as AsyncIterable<Buffer>;
      }
      return { stat: toStat(resolved), chunks, [Symbol.asyncDispose]: async () => {} };
    },
    async version(path): Promise<FileVersion | undefined> {
      const resolved = await walk(path).catch(ifMissing);
      return resolved && toVersion(mustBeResolvedFile(resolved, path));
    },
    async list(path, { limit }) {
      const resolved = await walk(path);
      if (resolved.file)
        throw new AppError('E_NOT_A_DIRECTORY', `path is not a directory: ${path}`, { details: { path } });
      const { entries, cut } = await listBucketDirectory(direct, resolved.key, limit);
      times.clear();
      for (const { name, mtimeMs } of entries)
        times.set(resolved.path === '' ? name : `${resolved.path}/${name}`, mtimeMs);
      return { path: resolved.path, entries: entries.map(({ mtimeMs: _, ...entry }) => entry), cut };
    },
    // Times of the last listing only: anything else would need a request for each path.
    modifiedTimes: async (paths) => paths.map((path) => times.get(path) ?? 0),
    write: refuse,
    change: refuse,
    upload: refuse,
    remove: refuse,
    rename: refuse,
  };
}

type ResolvedFile = ResolvedObject & { readonly file: DirectObject };

function mustBeResolvedFile(resolved: ResolvedObject, path: string): ResolvedFile {
  const { file } = resolved;
  if (!file) throw new AppError('E_NOT_A_FILE', `path is a directory: ${path}`, { details: { path } });
  return { ...resolved, file };
}

function toStat({ path, file }: ResolvedObject): FileStat {
  if (!file) return { path, kind: 'directory', size: 0, mtimeMs: 0 };
  return { path, kind: 'file', size: file.size, mtimeMs: file.modifiedAt.getTime() };
}

/** The version is the ETag, which differs for other bytes. */
function toVersion(resolved: ResolvedFile): FileVersion {
  return { ...toStat(resolved), version: `etag-${resolved.file.etag}` };
}

function ifMissing(thrown: unknown): undefined {
  if (!AppError.is(thrown) || thrown.code !== 'E_FILE_NOT_FOUND') throw thrown;
}

async function refuse(): Promise<never> {
  throw new AppError('E_READ_ONLY', 'workspace is read-only: it has no sandbox, and is read straight from its storage');
}
