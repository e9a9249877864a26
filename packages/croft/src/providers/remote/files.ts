import { AppError } from '@croft/protocol';
import type { DirectoryListing, Files, FileVersion, Precondition, WriteOptions } from '../../core/files.ts';
import { maxWholeBytes } from '../../disk/read.ts';
import { toPieces } from '../../link/methods/body.ts';
import { maxPathLength } from '../../link/methods/common.ts';
import * as methods from '../../link/methods/files.ts';
import type { Asking } from './asking.ts';
import { createChanger } from './change-file.ts';
import { nonsense } from './nonsense.ts';
import { openRemoteFile } from './open-file.ts';
import { uploadTo } from './upload-file.ts';

const { channels, maxListBytes } = methods;
/** Of an entry with a long name, and one of the longest links among many; of a time as JSON. */
const entryBytes = 4096;
const timeBytes = 32;

/** The files of a place of a runner: whatever is told of them is judged there, where they are. */
export function createRemoteFiles(asking: Asking, place: string): Files {
  const at = (path: string) => ({ place, path: fitting(path) });
  const { change } = createChanger(asking, { at, write });

  return {
    stat: async (path) => asking.ask(methods.statFile, at(path)),
    async read(path, { maxBytes } = {}) {
      const asked = asking.begin(methods.readFile, { ...at(path), maxBytes });
      const [file, bytes] = await asked.withBytes(channels.answer, maxBytes ?? maxWholeBytes);
      return { ...file, bytes };
    },
    open: async (path) => openRemoteFile(asking, at(path)),
    version: async (path) => (await asking.ask(methods.versionOfFile, at(path))) ?? undefined,
    async list(path, { limit }) {
      const asked = asking.begin(methods.listDirectory, { ...at(path), limit });
      const listing = await asked.withJson(channels.answer, listBytes(limit, entryBytes), methods.DirectoryListing);
      if (listing.entries.length > limit) throw nonsense(methods.listDirectory.name, `over ${limit} entries`);
      return listing as DirectoryListing;
    },
    modifiedTimes: (paths) => timesOf(asking, place, paths),
    write,
    change,
    upload: async (path, pieces, options) => uploadTo(asking, at(path), pieces, options),
    remove: async (path, { recursive, signal, isSynced }) =>
      asking.ask(methods.removeFile, { ...at(path), recursive, isSynced }, { signal, deadlineMs: null }),
    rename: async (from, to) => asking.ask(methods.renameFile, { place, from: fitting(from), to: fitting(to) }),
  };

  /** Waits for as long as the runner takes some of it, and then for the disk. */
  async function write(path: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<FileVersion> {
    const { expect, isExecutable, isSynced } = options;
    const params = { ...at(path), size: bytes.length, expect: toPrecondition(expect), isExecutable, isSynced };
    if (bytes.length > methods.maxBodyBytes) throw tooLarge(path, bytes.length);
    const asked = asking.begin(methods.writeFile, params);
    await asked.sendTo(channels.body, toPieces(bytes));
    return asked.soon();
  }
}

/** No more than so many can be: what a runner sends beyond that would only be parsed to be refused. */
function listBytes(count: number, each: number): number {
  return Math.min(maxListBytes, 128 * 1024 + count * each);
}

async function timesOf(asking: Asking, place: string, paths: readonly string[]): Promise<number[]> {
  // There is no time of a path that no file can have.
  const written = paths.map((path) => (path.length > maxPathLength ? '' : path));
  const body = Buffer.from(JSON.stringify(written));
  const asked = asking.begin(methods.modifiedTimes, { place, size: body.length });
  await asked.sendTo(channels.body, toPieces(body));
  const times = await asked.withJson(channels.answer, listBytes(paths.length, timeBytes), methods.Times);
  if (times.length !== paths.length) throw nonsense(methods.modifiedTimes.name, `${times.length} times`);
  return times;
}

/** A whole version will do for a caller: only what it is called is sent. */
function toPrecondition(expect: Precondition | undefined): Precondition | undefined {
  return typeof expect === 'object' ? { version: expect.version } : expect;
}

function fitting(path: string): string {
  if (path.length <= maxPathLength) return path;
  throw new AppError('E_NAME_TOO_LONG', `path is too long, at most ${maxPathLength}`, {
    details: { max: maxPathLength },
  });
}

function tooLarge(path: string, size: number): AppError {
  const max = methods.maxBodyBytes;
  return new AppError('E_TOO_LARGE', `what is written is over ${max} bytes: ${path}`, { details: { path, size, max } });
}
