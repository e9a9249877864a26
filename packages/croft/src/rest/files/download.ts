import { isUtf8 } from 'node:buffer';
import { AppError } from '@croft/protocol';
import type { Files, FileVersion, OpenFile } from '../../core/files/files.ts';
import { wholeCharsEnd } from '../../lib/text/utf8-boundaries.ts';
import { type AuditedFileAccess, wrapRead } from './audited-file-access.ts';
import { isAmong, readTags, toTag } from './etag-conditions.ts';
import { toFileBody } from './file-body.ts';
import { readRange } from './read-range.ts';

interface Opened {
  readonly file: OpenFile;
  readonly version: FileVersion;
}

const maxTries = 5;
const sniffedBytes = 4096;

/** Sends a file, or a part of it, with headers that keep browsers from running it. */
export async function download(visit: AuditedFileAccess, path: string, request: Request): Promise<Response> {
  const opened = await wrapRead(visit, path, () => openVersion(visit.workspace.files, path));
  const { response, isUsed } = await answer(opened, path, request).catch(async (thrown) => {
    await opened.file[Symbol.asyncDispose]();
    throw thrown;
  });
  if (!isUsed) await opened.file[Symbol.asyncDispose]();
  return response;
}

async function answer({ file, version }: Opened, path: string, request: Request) {
  const tag = toTag(version.version);
  const common = { ETag: tag, 'Cache-Control': 'private, no-cache', 'Accept-Ranges': 'bytes' };
  const none = readTags(request.headers, 'if-none-match');
  const match = readTags(request.headers, 'if-match');
  if (match !== undefined && !isAmong(match, version.version))
    throw new AppError('E_PRECONDITION_FAILED', `the ETag of ${path} is another one than in If-Match`, {
      details: { path },
    });
  if (none !== undefined && isAmong(none, version.version))
    return { response: new Response(null, { status: 304, headers: common }), isUsed: false };
  const isHead = request.method === 'HEAD';
  const { size } = file.stat;
  const part = isHead ? undefined : readRange(request.headers, size, tag);
  const range = part ?? { start: 0, end: size };
  const headers = {
    ...common,
    ...(await harmlessHeaders(file, path)),
    'Last-Modified': new Date(file.stat.mtimeMs).toUTCString(),
    'Content-Length': String(range.end - range.start),
    ...(part && { 'Content-Range': `bytes ${part.start}-${part.end - 1}/${size}` }),
  };
  if (isHead) return { response: new Response(null, { headers }), isUsed: false };
  const body = toFileBody(file, range, request.signal);
  return { response: new Response(body, { status: part ? 206 : 200, headers }), isUsed: true };
}

/** Opens a file together with its version. Tries again if the file was replaced or written between the two steps. */
async function openVersion(files: Files, path: string): Promise<Opened> {
  for (let tries = 0; tries < maxTries; tries++) {
    const version = await files.version(path);
    const file = await files.open(path);
    if (version && isSame(version, file)) return { file, version };
    await file[Symbol.asyncDispose]();
  }
  throw new AppError('E_STALE', `${path} changed each time that it was opened`, {
    details: { path },
    hint: 'Get it again when no program is writing to it.',
  });
}

function isSame(version: FileVersion, { stat }: OpenFile): boolean {
  return version.path === stat.path && version.size === stat.size && version.mtimeMs === stat.mtimeMs;
}

/** Headers with which a browser shows or saves any content, but never runs it. */
async function harmlessHeaders(file: OpenFile, path: string): Promise<Record<string, string>> {
  return {
    'Content-Type': (await isText(file)) ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    'Content-Disposition': toAttachment(path.slice(path.lastIndexOf('/') + 1)),
    ...safeHeaders,
  };
}

export const safeHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

async function isText(file: OpenFile): Promise<boolean> {
  for await (const chunk of file.chunks({ start: 0, end: Math.min(sniffedBytes, file.stat.size) })) {
    return !chunk.includes(0) && isUtf8(chunk.subarray(0, wholeCharsEnd(chunk)));
  }
  return true;
}

/** Adds a plain ASCII name for clients that do not know `filename*`. */
export function toAttachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const exact = encodeURIComponent(name).replaceAll(/['()*!]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
