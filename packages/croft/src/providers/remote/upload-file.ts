import type { Uploaded, UploadOptions } from '../../core/files.ts';
import { channels, UploadState, uploadFile } from '../../link/methods/files.ts';
import type { Asked, Asking } from './asking.ts';

/**
 * Nothing is sent before the runner wants it. When it has all of it, what stands around putting it in place is run here:
 * it is put there in the midst of that.
 */
export async function uploadTo(
  asking: Asking,
  at: { readonly place: string; readonly path: string },
  pieces: AsyncIterable<Uint8Array>,
  { maxBytes, expect, around }: UploadOptions,
): Promise<Uploaded> {
  const precondition = typeof expect === 'object' ? { version: expect.version } : expect;
  const asked = asking.begin(uploadFile, { ...at, maxBytes, expect: precondition, waits: around !== undefined });
  const wanted = Promise.withResolvers<void>();
  const there = Promise.withResolvers<void>();
  asked.listen(UploadState, ({ state }) => (state === 'wanted' ? wanted : there).resolve());
  try {
    await asked.patiently(wanted.promise);
    await Promise.race([sendAll(asked, pieces), asked.answer]);
    if (!around) return await asked.soon();
    await asked.patiently(there.promise);
    return await around(() => {
      asked.tell({ order: 'place' });
      return asked.soon();
    });
  } catch (thrown) {
    await giveUp(asked);
    throw thrown;
  }
}

async function sendAll(asked: Asked<Uploaded>, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const size = await asked.sendTo(channels.body, pieces);
  if (!asked.settled.aborted) asked.tell({ order: 'sent', size });
}

/** Nothing is left of it when this is over, unless the runner is lost. */
async function giveUp(asked: Asked<Uploaded>): Promise<void> {
  asked.tell({ order: 'give-up' });
  asked.writable(channels.body).destroy();
  await asked.soon().catch(() => {});
}
