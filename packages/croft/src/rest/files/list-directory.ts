import { AppError, type FileEntry, type FileList } from '@croft/protocol';
import { type ListedFile, listFiles } from '../../core/content/list-files.ts';
import type { Files } from '../../core/files/files.ts';
import { type AuditedFileAccess, wrapRead } from './audited-file-access.ts';
import { toTag } from './etag-conditions.ts';

interface ListRequest {
  /** Relative to the root; empty for the root. */
  readonly path: string;
  readonly recursive: boolean;
  readonly etags: boolean;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** Larger files get no ETag in a list, because hashing them would take too long. */
const maxHashedBytes = 1024 * 1024;

/** Returns one page of a directory. Returns `undefined` if the path is a file. */
export function listDirectoryPage(visit: AuditedFileAccess, request: ListRequest): Promise<FileList | undefined> {
  const { files } = visit.workspace;
  return wrapRead(visit, request.path, async () => {
    if (request.path !== '' && (await files.stat(request.path)).kind === 'file') return undefined;
    const page = await readPage(files, request);
    const entries = await describe(files, page.rows, request.etags);
    return { files: entries, ...page.rest };
  });
}

/** A single file as a list entry. */
export async function listOne(visit: AuditedFileAccess, path: string): Promise<FileEntry> {
  const { kind, size, mtimeMs } = await wrapRead(visit, path, () => visit.workspace.files.stat(path));
  return { ...toEntry({ name: path.slice(path.lastIndexOf('/') + 1), path, kind, size }), updatedAt: toTime(mtimeMs) };
}

async function readPage(files: Files, { path, recursive, cursor, limit }: ListRequest) {
  let cut: true | undefined;
  const onCut = () => {
    cut = true;
  };
  const after = cursor === undefined ? undefined : fromCursor(cursor);
  const rows: ListedFile[] = [];
  for await (const listed of listFiles(files, path, { recursive, after, onCut })) {
    rows.push(listed);
    if (rows.length > limit) break;
  }
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const next = last && { next: toCursor(last.path) };
  return { rows: rows.slice(0, limit), rest: { ...next, ...(cut && { cut }) } };
}

async function describe(files: Files, rows: readonly ListedFile[], etags: boolean): Promise<FileEntry[]> {
  const times = await files.modifiedTimes(rows.map(({ path }) => path));
  const entries: FileEntry[] = [];
  for (const [index, row] of rows.entries()) {
    const mtimeMs = times[index] ?? 0;
    const etag = etags ? await etagOf(files, row) : undefined;
    entries.push({ ...toEntry(row), ...(mtimeMs > 0 && { updatedAt: toTime(mtimeMs) }), ...(etag && { etag }) });
  }
  return entries;
}

async function etagOf(files: Files, { path, kind, size }: ListedFile): Promise<string | undefined> {
  if (kind !== 'file' || size > maxHashedBytes) return undefined;
  // The file may be gone, or may have become a link to somewhere else.
  const version = await files.version(path).catch(() => undefined);
  return version && toTag(version.version);
}

function toEntry({ path, name, kind, size, target, mode }: ListedFile): FileEntry {
  return {
    ...{ path, name, kind, isFolder: kind === 'directory' },
    ...(kind === 'file' && { sizeBytes: size }),
    ...(mode !== undefined && { mode: (mode & 0o7777).toString(8).padStart(4, '0') }),
    ...(target !== undefined && { target }),
  };
}

function toTime(mtimeMs: number): string {
  return new Date(mtimeMs).toISOString();
}

function toCursor(path: string): string {
  return Buffer.from(path).toString('base64url');
}

function fromCursor(text: string): string {
  const path = Buffer.from(text, 'base64url').toString();
  if (path !== '' && toCursor(path) === text) return path;
  throw new AppError('E_INVALID_INPUT', 'cursor must be `next` of another page', { details: { argument: 'cursor' } });
}
