import { AppError } from '@croft/protocol';
import { makeZip } from 'client-zip';
import { type ListedFile, listFiles } from '../../core/content/list-files.ts';
import type { Files, OpenFile } from '../../core/files.ts';
import { exactBytes } from './body-of-file.ts';
import { safeHeaders, toAttachment } from './download.ts';
import { look, type Visit } from './visit.ts';
import { createZipNames } from './zip-names.ts';

export interface ZipOptions {
  /** From the root; empty for all of it. */
  readonly path: string;
  /** `.git` and `node_modules` are left out unless they are asked for. */
  readonly include: readonly string[];
  readonly now: Date;
}

const bulky = ['.git', 'node_modules'] as const;

/**
 * A folder as one file, made while it is sent. Links and what is no file are left out. A failure in the middle cuts the
 * connection: what came to its end is whole.
 */
export async function zip(visit: Visit, { path, include, now }: ZipOptions, request: Request): Promise<Response> {
  const { files } = visit.door;
  // Says now, and not in the middle, that there is no such folder.
  await look(visit, path, () => files.list(path, { limit: 1 }));
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const headers = {
    ...safeHeaders,
    'Content-Type': 'application/zip',
    'Content-Disposition': toAttachment(`workspace-${stamp}.zip`),
    'Cache-Control': 'no-store',
  };
  if (request.method === 'HEAD') return new Response(null, { headers });
  const skip = new Set(bulky.filter((name) => !include.includes(name)));
  return new Response(toZip(files, path, skip, request.signal), { headers });
}

function toZip(files: Files, path: string, skip: ReadonlySet<string>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const entries = toEntries(files, path, skip, signal);
  const reader = makeZip(entries, { buffersAreUTF8: true }).getReader();
  // The package asks for no more entries after a failure, and does not let go of the one that is open.
  const end = async () => {
    await reader.cancel().catch(() => {});
    await entries.return(undefined).catch(() => {});
  };
  signal.addEventListener('abort', () => void end(), { once: true });
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch(async (thrown) => {
          await end();
          throw thrown;
        });
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  );
}

async function* toEntries(files: Files, path: string, skip: ReadonlySet<string>, signal: AbortSignal) {
  const toName = createZipNames(path);
  for await (const listed of listFiles(files, path, { recursive: true, skip, onCut: mustBeWhole })) {
    signal.throwIfAborted();
    if (listed.kind === 'directory')
      yield { name: `${toName(listed.path)}/`, lastModified: await timeOf(files, listed) };
    if (listed.kind !== 'file') continue;
    const file = await openIfThere(files, listed.path);
    if (!file) continue;
    try {
      const { size, mtimeMs } = file.stat;
      const input = exactBytes(file, { start: 0, end: size });
      yield { name: toName(listed.path), size, lastModified: new Date(mtimeMs), input, ...modeOf(listed) };
    } finally {
      await file[Symbol.asyncDispose]();
    }
  }
}

function modeOf({ mode }: ListedFile): { mode?: number } {
  return mode === undefined ? {} : { mode: mode & 0o777 };
}

async function timeOf(files: Files, { path }: ListedFile): Promise<Date> {
  const [time = 0] = await files.modifiedTimes([path]);
  return new Date(time);
}

/** What became something else, or nothing, since it was listed. */
const isGone: ReadonlySet<string> = new Set([
  ...['E_FILE_NOT_FOUND', 'E_NOT_A_FILE', 'E_NOT_A_DIRECTORY'],
  ...['E_DANGLING_LINK', 'E_LINK_LOOP', 'E_SANDBOX_VIOLATION'],
]);

async function openIfThere(files: Files, path: string): Promise<OpenFile | undefined> {
  try {
    return await files.open(path);
  } catch (thrown) {
    if (AppError.is(thrown) && isGone.has(thrown.code)) return undefined;
    throw thrown;
  }
}

function mustBeWhole(path: string): void {
  throw new AppError('E_TOO_LARGE', `a directory has too many entries: ${path}`, { details: { path } });
}
