import { AppError } from '@croft/protocol';
import { createWorkerThread } from '../../../lib/concurrency/worker-thread.ts';
import { applyEdits, type Edit, type EditedFile } from './apply-edits.ts';
import type { EditAnswer, EditQuestion } from './apply-edits-worker.ts';

/** Each edit scans the whole file. Up to this many bytes in total take a few milliseconds. */
const maxBytesOnThisThread = 8 * 1024 * 1024;

const thread = createWorkerThread<EditQuestion, EditAnswer>(new URL('./apply-edits-worker.ts', import.meta.url));

/** Applies edits like `applyEdits`, but in another thread if many edits of a large file would take seconds. */
export async function applyEditsOffThread(before: Buffer, edits: readonly Edit[], path: string): Promise<EditedFile> {
  if (before.length * edits.length <= maxBytesOnThisThread) return applyEdits(before, edits, path);
  const answer = await thread.ask({ before, edits, path });
  if ('refused' in answer) throw new AppError(answer.refused.code, answer.refused.message, answer.refused);
  const { buffer, byteOffset, byteLength } = answer.bytes;
  return { bytes: Buffer.from(buffer, byteOffset, byteLength), replaced: answer.replaced };
}
