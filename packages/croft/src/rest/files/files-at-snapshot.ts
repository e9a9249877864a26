import { AppError, type FileList } from '@croft/protocol';
import type { PastTrees } from '../../core/history/ports/history.ts';
import { safeHeaders, toAttachment } from './download.ts';

const maxEntries = 10_000;

interface SnapshotFolder {
  readonly snapshot: string;
  readonly path: string;
  readonly recursive: boolean;
  readonly etags: boolean;
  readonly cursor?: string | undefined;
}

/** Lists one folder as it was in a snapshot. */
export async function listAtSnapshot(past: PastTrees, folder: SnapshotFolder): Promise<FileList> {
  const { snapshot, path, recursive, etags, cursor } = folder;
  if (recursive || etags || cursor !== undefined)
    throw new AppError('E_INVALID_INPUT', 'snapshot lists one folder: leave out recursive, etags and cursor');
  const listed = await past.list(snapshot, path);
  const files = listed.slice(0, maxEntries).map(({ path: own, entry: { kind, mode, size } }) => ({
    ...{ path: own.toWellFormed(), name: own.slice(own.lastIndexOf('/') + 1).toWellFormed() },
    ...{ kind, isFolder: kind === 'directory', mode: mode.toString(8) },
    ...(kind === 'file' && { sizeBytes: size }),
  }));
  return { files, ...(listed.length > maxEntries && { cut: true as const }) };
}

/** Sends a file as it was in a snapshot, as harmlessly as any file. */
export async function readAtSnapshot(past: PastTrees, snapshot: string, path: string): Promise<Response> {
  const bytes = new Uint8Array(await past.read(snapshot, path));
  return new Response(bytes, {
    headers: {
      'Content-Type': bytes.includes(0) ? 'application/octet-stream' : 'text/plain; charset=utf-8',
      'Content-Disposition': toAttachment(path.slice(path.lastIndexOf('/') + 1)),
      'Content-Length': String(bytes.length),
      'Cache-Control': 'private, no-cache',
      ...safeHeaders,
    },
  });
}
