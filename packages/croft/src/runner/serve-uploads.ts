import { AppError } from '@croft/protocol';
import type { Files } from '../core/files/files.ts';
import type { ServedCall } from '../link/calls/peer.ts';
import { channels, UploadOrder, uploadFile } from '../link/methods/files.ts';
import { type LinkHandlers, listen, serveMethod, untilAborted } from './serve-helpers.ts';

export function serveUploads(writable: (handle: string) => Files): LinkHandlers {
  return serveMethod(
    uploadFile,
    async ({ place: handle, path, maxBytes, expect, waits, allowControl: names }, call) => {
      const files = writable(handle);
      const sent = Promise.withResolvers<number>();
      const mayRename = Promise.withResolvers<void>();
      const givenUp = new AbortController();
      listen(call, UploadOrder, (message) => {
        if (message.order === 'sent') sent.resolve(message.size);
        else if (message.order === 'place') mayRename.resolve();
        else givenUp.abort(new AppError('E_CANCELLED', 'the upload was cancelled'));
      });
      const gone = untilAborted(AbortSignal.any([call.signal, givenUp.signal]));
      const around = async <T>(work: () => Promise<T>): Promise<T> => {
        call.sendMessage({ state: 'there' });
        await Promise.race([mayRename.promise, gone]);
        return work();
      };
      const pieces = receive(call, () => Promise.race([sent.promise, gone]));
      return files.upload(path, pieces, { maxBytes, expect, allow: { names }, ...(waits && { around }) });
    },
  );
}

/**
 * Asks the server for the bytes. A stream that was cut looks as if it had ended, so that its length is compared with
 * the announced one.
 */
async function* receive(call: ServedCall, announced: () => Promise<number>): AsyncGenerator<Uint8Array> {
  call.sendMessage({ state: 'wanted' });
  let size = 0;
  for await (const piece of call.readable(channels.body)) {
    size += piece.length;
    yield piece;
  }
  if ((await announced()) !== size)
    throw new AppError('E_CANCELLED', 'nothing was written: the connection ended before all of the bytes arrived');
  call.signal.throwIfAborted();
}
