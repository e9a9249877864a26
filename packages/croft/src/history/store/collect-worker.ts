import { AppError } from '@croft/protocol';
import type { TreeHash } from '../../core/history/ports/tree.ts';
import { answerQuestions, lowerThreadPriority } from '../../lib/concurrency/worker-thread.ts';
import { finishCollection, type GarbageCollection } from './sqlite-garbage-collection.ts';

export interface CollectQuestion {
  readonly collection: GarbageCollection;
  readonly live: readonly TreeHash[];
  /** Anything but 0 cancels the collection. */
  readonly isCalledOff: Int32Array;
}

/** The number of bytes freed, or an error as plain fields: errors do not cross threads as they are. */
export type CollectAnswer =
  | { readonly freed: number }
  | { readonly refused: Pick<AppError, 'code' | 'message' | 'details' | 'hint'> };

async function answerTo({ collection, live, isCalledOff }: CollectQuestion): Promise<CollectAnswer> {
  try {
    return {
      freed: await finishCollection(collection, { live, isCancelled: () => Atomics.load(isCalledOff, 0) !== 0 }),
    };
  } catch (thrown) {
    const { code, message, details, hint } = AppError.from(thrown);
    return { refused: { code, message, details, hint } };
  }
}

lowerThreadPriority();
answerQuestions(answerTo);
