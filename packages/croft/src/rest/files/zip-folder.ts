import { AppError } from '@croft/protocol';
import { makeZip } from 'client-zip';
import { type ListedFile, listFiles } from '../../core/content/list-files.ts';
import type { Files, OpenFile } from '../../core/files/files.ts';
import { type AuditedFileAccess, wrapRead } from './audited-file-access.ts';
import { safeHeaders, toAttachment } from './download.ts';
import { exactBytes } from './file-body.ts';

interface ZipOptions {
  /** Relative to the root; empty for the whole workspace. */
  readonly path: string;
  /** Names of `.git` and `node_modules` to include. Both are left out by default. */
  readonly include: readonly string[];
  readonly now: Date;
}

const bulky = ['.git', 'node_modules'] as const;

/**
 * Sends a folder as a zip that is made while it is sent. Links and special files are left out. A failure in the middle
 * cuts the connection, so that a zip that ends normally is complete.
 */
export async function zipFolder(
  visit: AuditedFileAccess,
  { path, include, now }: ZipOptions,
  request: Request,
): Promise<Response> {
  const { files } = visit.workspace;
  // Fails now, before the answer starts, if there is no such folder.
  await wrapRead(visit, path, () => files.list(path, { limit: 1 }));
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
  // After a failure, `client-zip` asks for no more entries and does not close the open one.
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

/** Errors for a file that was removed or replaced since it was listed. */
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

/**
 * Names for the entries of a zip: relative to the folder, never upwards, never with a drive, and none twice. A
 * backslash or a drive's colon, which other systems would interpret, is percent-encoded.
 */
function createZipNames(folder: string): (path: string) => string {
  const taken = new Set<string>();
  return (path) => {
    const below = folder === '' ? path : path.slice(folder.length + 1);
    const clean = below.replaceAll('\\', '%5C').replace(/^([A-Za-z]):/, '$1%3A');
    let name = clean;
    for (let count = 2; taken.has(name); count++) name = `${clean}~${count}`;
    taken.add(name);
    return name;
  };
}
