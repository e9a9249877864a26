import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import type { Asked } from './asking.ts';
import { nonsense } from './nonsense.ts';

/** What a long call tells first: without it, it has not begun. */
export async function firstTold<Schema extends z.ZodType>(
  asked: Asked<unknown>,
  schema: Schema,
  { patienceMs, onMore }: { patienceMs: number; onMore?(message: z.output<Schema>): void },
): Promise<z.output<Schema>> {
  const first = Promise.withResolvers<z.output<Schema>>();
  let isFirst = true;
  asked.listen(schema, (message) => {
    if (!isFirst) return onMore?.(message);
    isFirst = false;
    first.resolve(message);
  });
  asked.answer.then(() => first.reject(nonsense(asked.method, 'it ended before it began')), first.reject);
  const late = new AppError('E_TIMEOUT', `the runner has not answered for ${patienceMs / 1000} s`);
  const timer = setTimeout(() => asked.takeBack(late), patienceMs);
  return first.promise.finally(() => clearTimeout(timer));
}
