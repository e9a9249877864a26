import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import type { RpcCall } from './rpc-client.ts';
import { invalidAnswer } from './runner-errors.ts';

/** Waits for the first message of a long call, which means that the call has begun. */
export async function waitForFirstMessage<Schema extends z.ZodType>(
  call: RpcCall<unknown>,
  schema: Schema,
  { patienceMs, onMore }: { patienceMs: number; onMore?(message: z.output<Schema>): void },
): Promise<z.output<Schema>> {
  const first = Promise.withResolvers<z.output<Schema>>();
  let isFirst = true;
  call.listen(schema, (message) => {
    if (!isFirst) return onMore?.(message);
    isFirst = false;
    first.resolve(message);
  });
  call.answer.then(() => first.reject(invalidAnswer(call.method, 'it ended before it began')), first.reject);
  const late = new AppError('E_TIMEOUT', `the runner has not answered for ${patienceMs / 1000} s`);
  const timer = setTimeout(() => call.cancel(late), patienceMs);
  return first.promise.finally(() => clearTimeout(timer));
}
