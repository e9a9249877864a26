import { AppError } from '@croft/protocol';
import { parseBySchema } from '../core/arguments/parse-by-schema.ts';
import type { Files } from '../core/files/files.ts';
import { createMemoryBudget, type MemoryBudget } from '../lib/concurrency/memory-budget.ts';
import { collectBytes, sendPieces, toPieces } from '../link/calls/bounded-streams.ts';
import type { ServedCall } from '../link/calls/peer.ts';
import * as methods from '../link/methods/files.ts';
import {
  answerJson,
  type LinkHandlers,
  mustBeWritable,
  parseSentJson,
  type ServedWorkspaces,
  serveMethod,
} from './serve-helpers.ts';
import { serveOpenFiles } from './serve-open-files.ts';
import { serveUploads } from './serve-uploads.ts';

const { channels } = methods;

/** Serves `Files` to the server. The files themselves check where a path leads. */
export function serveFiles(workspaces: ServedWorkspaces): LinkHandlers {
  const budget = createMemoryBudget();
  const filesOf = (handle: string): Files => workspaces.get(handle).files;
  const writable = (handle: string): Files => mustBeWritable(workspaces.get(handle)).files;
  return {
    ...serveReading(filesOf, budget),
    ...serveWriting(writable, budget),
    ...serveOpenFiles(filesOf),
    ...serveUploads(writable),
  };
}

function serveReading(filesOf: (handle: string) => Files, budget: MemoryBudget): LinkHandlers {
  return {
    ...serveMethod(methods.statFile, ({ place: handle, path }) => filesOf(handle).stat(path)),
    ...serveMethod(
      methods.versionOfFile,
      async ({ place: handle, path }) => (await filesOf(handle).version(path)) ?? null,
    ),
    ...serveMethod(methods.readFile, async ({ place: handle, path, maxBytes }, call) => {
      const files = filesOf(handle);
      using _ = await budget.reserve((await files.stat(path)).size);
      const { bytes, ...file } = await files.read(path, maxBytes === undefined ? {} : { maxBytes });
      await answerWith(call, bytes);
      return file;
    }),
    ...serveMethod(methods.readCurrent, async ({ place: handle, path, maxBytes }, call) => {
      const files = filesOf(handle);
      const size = await files.stat(path).then(
        (stat) => stat.size,
        () => 0,
      );
      using _ = await budget.reserve(Math.min(size, maxBytes));
      return sendCurrent(files, path, maxBytes, call);
    }),
    ...serveMethod(methods.listDirectory, async ({ place: handle, path, limit }, call) =>
      answerJson(call, channels.answer, await filesOf(handle).list(path, { limit })),
    ),
    ...serveMethod(methods.modifiedTimes, async ({ place: handle, size }, call) => {
      using _ = await budget.reserve(size);
      const body = await collectBytes(call.readable(channels.body), { maxBytes: size, tooMuch: () => tooMuch(size) });
      const paths = parseBySchema(methods.Paths, parseSentJson(body));
      return answerJson(call, channels.answer, await filesOf(handle).modifiedTimes(paths));
    }),
  };
}

async function sendCurrent(files: Files, path: string, maxBytes: number, call: ServedCall) {
  try {
    const { bytes, ...file } = await files.read(path, { maxBytes });
    await answerWith(call, bytes);
    return { ...file, hasContent: true };
  } catch (thrown) {
    const code = AppError.is(thrown) ? thrown.code : undefined;
    if (code === 'E_FILE_NOT_FOUND') return null;
    if (code !== 'E_TOO_LARGE') throw thrown;
    const file = await files.version(path);
    return file ? { ...file, hasContent: false } : null;
  }
}

function serveWriting(writable: (handle: string) => Files, budget: MemoryBudget): LinkHandlers {
  return {
    ...serveMethod(methods.writeFile, async ({ place: handle, path, size, allowControl: names, ...options }, call) => {
      const files = writable(handle);
      using _ = await budget.reserve(size);
      const bytes = await collectBytes(call.readable(channels.body), { maxBytes: size, tooMuch: () => tooMuch(size) });
      // A body that was cut short or cancelled must not be written.
      if (call.signal.aborted || bytes.length !== size)
        throw new AppError('E_CANCELLED', 'nothing was written: the connection ended before all of the bytes arrived');
      return files.write(path, bytes, { ...options, allow: { names } });
    }),
    ...serveMethod(methods.removeFile, ({ place: handle, path, allowControl: names, ...options }, { signal }) =>
      writable(handle).remove(path, { ...options, signal, allow: { names } }),
    ),
    ...serveMethod(methods.renameFile, ({ place: handle, from, to, allowControl: names }) =>
      writable(handle).rename(from, to, { allow: { names } }),
    ),
  };
}

async function answerWith(call: ServedCall, bytes: Uint8Array): Promise<void> {
  await sendPieces(call.writable(channels.answer), toPieces(bytes), call);
}

function tooMuch(max: number): AppError {
  return new AppError('E_TOO_LARGE', `the content is over ${max} bytes, which is the announced size`, {
    details: { max },
  });
}
