import { AppError, type FileWritten } from '@croft/protocol';
import type { Uploaded } from '../../core/files.ts';
import { judging, toPrecondition, toTag } from './conditions.ts';
import { readBody, withinRoom } from './read-body.ts';
import { aroundChange, audited, look, type Visit } from './visit.ts';

/** The body of a request becomes a file: all of it or nothing. `maxBytes` is what a link allows, if it says. */
export async function upload(visit: Visit, path: string, request: Request, maxBytes?: number): Promise<Response> {
  const max = Math.min(visit.maxUploadBytes, maxBytes ?? Number.POSITIVE_INFINITY);
  mustFit(request, max);
  const written = await put(visit, path, readBody(request), { headers: request.headers, maxBytes: max });
  return Response.json(toWritten(written), {
    status: written.isNew ? 201 : 200,
    headers: { ETag: toTag(written.version), 'Cache-Control': 'no-store' },
  });
}

export interface PutOptions {
  /** With what must hold before. */
  readonly headers: Headers;
  readonly maxBytes: number;
}

export function put(
  visit: Visit,
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { headers, maxBytes }: PutOptions,
): Promise<Uploaded> {
  const { files, checkRoom } = visit.door;
  const writing = { action: 'file.write', details: { path } } as const;
  return audited(visit, writing, async () => {
    const expect = await look(visit, path, () => toPrecondition(files, path, headers));
    const around = <T>(work: () => Promise<T>) => aroundChange(visit, writing, work);
    const options = { maxBytes, expect, around };
    return judging(expect, path, () => files.upload(path, withinRoom(pieces, checkRoom), options));
  });
}

export function toWritten({ path, size, mtimeMs, version }: Uploaded): FileWritten {
  return { path, sizeBytes: size, updatedAt: new Date(mtimeMs).toISOString(), etag: toTag(version) };
}

/** One that says it is too large is not touched: what nobody reads, the server takes off the connection by itself. */
function mustFit({ headers }: Request, max: number): void {
  if (headers.has('content-encoding') && headers.get('content-encoding') !== 'identity')
    throw new AppError('E_INVALID_INPUT', 'a file is sent as it is: Content-Encoding is not understood');
  if (headers.has('content-range'))
    throw new AppError('E_INVALID_INPUT', 'a file is sent whole: Content-Range is not understood');
  if (Number(headers.get('content-length') ?? 0) <= max) return;
  throw new AppError('E_TOO_LARGE', `a file may be sent up to ${max} bytes`, { details: { max } });
}
