import { z } from 'zod';
import { ErrorBody } from './app-error.ts';
import { Approval } from './approvals.ts';

/**
 * One event of a streamed tool call. The last one is `result`, `approval` or `error`. The output is what the programs of
 * the call print, without secrets; `result` has it again, as the tool answers it.
 */
export const StreamedCall = z.discriminatedUnion('type', [
  z.object({ type: z.literal('output'), stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  /** What the call does now, in a few words. */
  z.object({ type: z.literal('activity'), text: z.string() }),
  z.object({ type: z.literal('result'), result: z.record(z.string(), z.unknown()) }),
  /** A person has to agree first; then make the same call again with this approval. */
  z.object({ type: z.literal('approval'), approval: Approval }),
  z.object({ type: z.literal('error'), error: ErrorBody }),
]);
export type StreamedCall = z.output<typeof StreamedCall>;
