import { AppError } from '@croft/protocol';
import { answerQuestions, runAfterSandboxes } from '../../../lib/concurrency/worker-thread.ts';
import { applyEdits, type Edit } from './apply-edits.ts';

export interface EditQuestion {
  readonly before: Uint8Array;
  readonly edits: readonly Edit[];
  readonly path: string;
}

/** Errors cannot be passed between threads, so their fields are. */
export type EditAnswer =
  | { readonly bytes: Uint8Array; readonly replaced: number }
  | { readonly refused: Pick<AppError, 'code' | 'message' | 'details' | 'hint'> };

function answerTo({ before, edits, path }: EditQuestion): EditAnswer {
  try {
    return applyEdits(Buffer.from(before.buffer, before.byteOffset, before.byteLength), edits, path);
  } catch (thrown) {
    const { code, message, details, hint } = AppError.from(thrown);
    return { refused: { code, message, details, hint } };
  }
}

runAfterSandboxes();
answerQuestions<EditQuestion, EditAnswer>(answerTo, (answer) =>
  'bytes' in answer && answer.bytes.buffer instanceof ArrayBuffer ? [answer.bytes.buffer] : [],
);
