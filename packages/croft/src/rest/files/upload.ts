import { AppError, type FileWritten } from '@croft/protocol';
import type { UploadedFile } from '../../core/files/files.ts';
import { discard } from '../http/body-limit.ts';
import { type AuditedFileAccess, audited, wrapChange, wrapRead } from './audited-file-access.ts';
import { asPreconditionFailure, toPrecondition, toTag } from './etag-conditions.ts';

/** Writes the body of a request as a file, completely or not at all. `maxBytes` is the limit of a file link. */
export async function upload(
  visit: AuditedFileAccess,
  path: string,
  request: Request,
  maxBytes?: number,
): Promise<Response> {
  const max = Math.min(visit.maxUploadBytes, maxBytes ?? Number.POSITIVE_INFINITY);
  mustFit(request, max);
  const written = await putFile(visit, path, readBody(request), { headers: request.headers, maxBytes: max });
  return Response.json(toWritten(written), {
    status: written.isNew ? 201 : 200,
    headers: { ETag: toTag(written.version), 'Cache-Control': 'no-store' },
  });
}

interface PutFileOptions {
  /** The headers with the conditions of the upload. */
  readonly headers: Headers;
  readonly maxBytes: number;
}

export function putFile(
  visit: AuditedFileAccess,
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { headers, maxBytes }: PutFileOptions,
): Promise<UploadedFile> {
  const { files } = visit.workspace;
  const writing = { action: 'file.write', details: { path } } as const;
  return audited(visit, writing, async () => {
    const expect = await wrapRead(visit, path, () => toPrecondition(files, path, headers));
    const around = <T>(work: () => Promise<T>) => wrapChange(visit, writing, work);
    const options = { maxBytes, expect, around };
    return asPreconditionFailure(expect, path, () => files.upload(path, pieces, options));
  });
}

export function toWritten({ path, size, mtimeMs, version }: UploadedFile): FileWritten {
  return { path, sizeBytes: size, updatedAt: new Date(mtimeMs).toISOString(), etag: toTag(version) };
}

/** Does not read a body that declares to be too large: the server drains it from the connection after the answer. */
function mustFit({ headers }: Request, max: number): void {
  if (headers.has('content-encoding') && headers.get('content-encoding') !== 'identity')
    throw new AppError('E_INVALID_INPUT', 'a file is sent as it is: Content-Encoding is not understood');
  if (headers.has('content-range'))
    throw new AppError('E_INVALID_INPUT', 'a file is sent whole: Content-Range is not understood');
  if (Number(headers.get('content-length') ?? 0) <= max) return;
  throw new AppError('E_TOO_LARGE', `an uploaded file may have at most ${max} bytes`, { details: { max } });
}

/**
 * A client that sends nothing for this long is gone, or only blocks the upload. Shorter than the age at which a
 * half-written file counts as abandoned.
 */
const idleMs = 30_000;
const sendAgain = 'Nothing was written. Send the whole file again.';

/**
 * Yields a body as it arrives. If the reader stops early, the rest is drained from the connection, so that the client
 * gets the answer.
 */
async function* readBody(request: Request): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return;
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read());
      isDone = done;
      if (done) return;
      yield value;
    }
  } catch (thrown) {
    isDone = true;
    void reader.cancel().catch(() => {});
    throw AppError.is(thrown)
      ? thrown
      : new AppError('E_CANCELLED', 'the request body ended early', { hint: sendAgain });
  } finally {
    if (!isDone) void discard(reader);
  }
}

async function inTime<T>(reading: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = new AppError('E_TIMEOUT', `nothing more of the body came for ${idleMs / 1000} seconds`, {
    hint: sendAgain,
  });
  const timer = setTimeout(() => reject(late), idleMs);
  try {
    return await Promise.race([reading, promise]);
  } finally {
    clearTimeout(timer);
  }
}
