import { AppError } from '@croft/protocol';
import type { DirectoryListing, Files, FileVersion, FileWriteOptions, Precondition } from '../../core/files/files.ts';
import { maxWholeBytes } from '../../disk/read/read-content.ts';
import { toPieces } from '../../link/calls/bounded-streams.ts';
import { maxPathLength } from '../../link/methods/define-method.ts';
import * as methods from '../../link/methods/files.ts';
import { createRemoteFileChanger } from './change-file.ts';
import { openRemoteFile } from './open-file.ts';
import type { RpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';
import { toAllowControl } from './to-allow-control.ts';
import { uploadRemoteFile } from './upload-file.ts';

const { channels, maxListBytes } = methods;
/** The size of a directory entry with a long name or link target, and of a time as JSON. */
const entryBytes = 4096;
const timeBytes = 32;

/** The files of a workspace on a runner. The runner checks every path, because the files are there. */
export function createRemoteFiles(rpc: RpcClient, handle: string): Files {
  const at = (path: string) => ({ place: handle, path: fitting(path) });
  const { change } = createRemoteFileChanger(rpc, { at, write });

  return {
    stat: async (path) => rpc.ask(methods.statFile, at(path)),
    async read(path, { maxBytes } = {}) {
      const asked = rpc.begin(methods.readFile, { ...at(path), maxBytes });
      const [file, bytes] = await asked.withBytes(channels.answer, maxBytes ?? maxWholeBytes);
      return { ...file, bytes };
    },
    open: async (path) => openRemoteFile(rpc, at(path)),
    version: async (path) => (await rpc.ask(methods.versionOfFile, at(path))) ?? undefined,
    async list(path, { limit }) {
      const asked = rpc.begin(methods.listDirectory, { ...at(path), limit });
      const listing = await asked.withJson(channels.answer, listBytes(limit, entryBytes), methods.DirectoryListing);
      if (listing.entries.length > limit) throw invalidAnswer(methods.listDirectory.name, `over ${limit} entries`);
      return listing as DirectoryListing;
    },
    modifiedTimes: (paths) => timesOf(rpc, handle, paths),
    write,
    change,
    upload: async (path, pieces, options) => uploadRemoteFile(rpc, at(path), pieces, options),
    remove: async (path, { recursive, signal, isSynced, allow }) =>
      rpc.ask(
        methods.removeFile,
        { ...at(path), recursive, isSynced, ...toAllowControl(allow) },
        { signal, deadlineMs: null },
      ),
    rename: async (from, to, { allow } = {}) =>
      rpc.ask(methods.renameFile, { place: handle, from: fitting(from), to: fitting(to), ...toAllowControl(allow) }),
  };

  /** Sends as long as the runner takes the bytes, and then waits for its disk. */
  async function write(path: string, bytes: Uint8Array, options: FileWriteOptions = {}): Promise<FileVersion> {
    const { expect, isExecutable, isSynced, allow } = options;
    const asks = { expect: toPrecondition(expect), isExecutable, isSynced, ...toAllowControl(allow) };
    const params = { ...at(path), size: bytes.length, ...asks };
    if (bytes.length > methods.maxBodyBytes) throw tooLarge(path, bytes.length);
    const asked = rpc.begin(methods.writeFile, params);
    await asked.sendTo(channels.body, toPieces(bytes));
    return asked.answerInTime();
  }
}

/** Limits a listing to what `count` entries can take: more would only be parsed to be refused. */
function listBytes(count: number, each: number): number {
  return Math.min(maxListBytes, 128 * 1024 + count * each);
}

async function timesOf(rpc: RpcClient, handle: string, paths: readonly string[]): Promise<number[]> {
  // No file can have such a path, so that its time is 0.
  const written = paths.map((path) => (path.length > maxPathLength ? '' : path));
  const body = Buffer.from(JSON.stringify(written));
  const asked = rpc.begin(methods.modifiedTimes, { place: handle, size: body.length });
  await asked.sendTo(channels.body, toPieces(body));
  const times = await asked.withJson(channels.answer, listBytes(paths.length, timeBytes), methods.Times);
  if (times.length !== paths.length) throw invalidAnswer(methods.modifiedTimes.name, `${times.length} times`);
  return times;
}

/** A caller may pass a whole `FileVersion`. Only the version text is sent. */
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
  return new AppError('E_TOO_LARGE', `the content is over ${max} bytes: ${path}`, { details: { path, size, max } });
}
