import type { UploadedFile, UploadOptions } from '../../core/files/files.ts';
import { channels, UploadState, uploadFile } from '../../link/methods/files.ts';
import type { RpcCall, RpcClient } from './rpc/rpc-client.ts';
import { toAllowControl } from './to-allow-control.ts';

/**
 * Sends the bytes only when the runner asks for them. When the runner has all of them, `around` runs here, and the
 * runner puts the file in place within it.
 */
export async function uploadRemoteFile(
  rpc: RpcClient,
  at: { readonly place: string; readonly path: string },
  pieces: AsyncIterable<Uint8Array>,
  { maxBytes, expect, around, allow }: UploadOptions,
): Promise<UploadedFile> {
  const precondition = typeof expect === 'object' ? { version: expect.version } : expect;
  const asks = { maxBytes, expect: precondition, waits: around !== undefined, ...toAllowControl(allow) };
  const asked = rpc.begin(uploadFile, { ...at, ...asks });
  const wanted = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  asked.listen(UploadState, ({ state }) => (state === 'wanted' ? wanted : arrived).resolve());
  try {
    await asked.stepInTime(wanted.promise);
    await Promise.race([sendAll(asked, pieces), asked.answer]);
    if (!around) return await asked.answerInTime();
    await asked.stepInTime(arrived.promise);
    return await around(() => {
      asked.sendMessage({ order: 'place' });
      return asked.answerInTime();
    });
  } catch (thrown) {
    await giveUp(asked);
    throw thrown;
  }
}

async function sendAll(asked: RpcCall<UploadedFile>, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const size = await asked.sendTo(channels.body, pieces);
  if (!asked.finished.aborted) asked.sendMessage({ order: 'sent', size });
}

/** Afterwards nothing of the upload is left, unless the runner is lost. */
async function giveUp(asked: RpcCall<UploadedFile>): Promise<void> {
  asked.sendMessage({ order: 'give-up' });
  asked.writable(channels.body).destroy();
  await asked.answerInTime().catch(() => {});
}
