import { AppError } from '@croft/protocol';
import type { Files } from '../core/files.ts';
import { parse } from '../core/parse.ts';
import { type Budget, createBudget } from '../lib/budget.ts';
import { collect, send, toPieces } from '../link/methods/body.ts';
import * as methods from '../link/methods/files.ts';
import type { Incoming } from '../link/peer.ts';
import { answerJson, type Handlers, mustBeWritable, type Places, parseJson, serving } from './serve-means.ts';
import { serveOpenFiles } from './serve-open-files.ts';
import { serveUploads } from './serve-uploads.ts';

const { channels } = methods;

/** `Files` for the other side of a link. Where a path leads is judged by the files themselves. */
export function serveFiles(places: Places): Handlers {
  const budget = createBudget();
  const filesOf = (place: string): Files => places.get(place).files;
  const writable = (place: string): Files => mustBeWritable(places.get(place)).files;
  return {
    ...serveReading(filesOf, budget),
    ...serveWriting(writable, budget),
    ...serveOpenFiles(filesOf),
    ...serveUploads(writable),
  };
}

function serveReading(filesOf: (place: string) => Files, budget: Budget): Handlers {
  return {
    ...serving(methods.statFile, ({ place, path }) => filesOf(place).stat(path)),
    ...serving(methods.versionOfFile, async ({ place, path }) => (await filesOf(place).version(path)) ?? null),
    ...serving(methods.readFile, async ({ place, path, maxBytes }, call) => {
      const files = filesOf(place);
      using _ = await budget.hold((await files.stat(path)).size);
      const { bytes, ...file } = await files.read(path, maxBytes === undefined ? {} : { maxBytes });
      await answerWith(call, bytes);
      return file;
    }),
    ...serving(methods.readCurrent, async ({ place, path, maxBytes }, call) => {
      const files = filesOf(place);
      const size = await files.stat(path).then(
        (stat) => stat.size,
        () => 0,
      );
      using _ = await budget.hold(Math.min(size, maxBytes));
      return sendCurrent(files, path, maxBytes, call);
    }),
    ...serving(methods.listDirectory, async ({ place, path, limit }, call) =>
      answerJson(call, channels.answer, await filesOf(place).list(path, { limit })),
    ),
    ...serving(methods.modifiedTimes, async ({ place, size }, call) => {
      using _ = await budget.hold(size);
      const body = await collect(call.readable(channels.body), { maxBytes: size, tooMuch: () => tooMuch(size) });
      const paths = parse(methods.Paths, parseJson(body));
      return answerJson(call, channels.answer, await filesOf(place).modifiedTimes(paths));
    }),
  };
}

async function sendCurrent(files: Files, path: string, maxBytes: number, call: Incoming) {
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

function serveWriting(writable: (place: string) => Files, budget: Budget): Handlers {
  return {
    ...serving(methods.writeFile, async ({ place, path, size, expect, isExecutable, isSynced }, call) => {
      const files = writable(place);
      using _ = await budget.hold(size);
      const bytes = await collect(call.readable(channels.body), { maxBytes: size, tooMuch: () => tooMuch(size) });
      // One that was cut short, or taken back, is not what was meant.
      if (call.signal.aborted || bytes.length !== size) throw new AppError('E_CANCELLED', 'not all of it has come');
      return files.write(path, bytes, { expect, isExecutable, isSynced });
    }),
    ...serving(methods.removeFile, ({ place, path, recursive, isSynced }, { signal }) =>
      writable(place).remove(path, { recursive, signal, isSynced }),
    ),
    ...serving(methods.renameFile, ({ place, from, to }) => writable(place).rename(from, to)),
  };
}

async function answerWith(call: Incoming, bytes: Uint8Array): Promise<void> {
  await send(call.writable(channels.answer), toPieces(bytes), call);
}

function tooMuch(max: number): AppError {
  return new AppError('E_TOO_LARGE', `what is sent is over ${max} bytes`, { details: { max } });
}
