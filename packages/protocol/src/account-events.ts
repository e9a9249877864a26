import { z } from 'zod';
import { AuditRecord } from './audit.ts';

/**
 * One event of an account. An `audit` event has an `id`, which a client sends back as `Last-Event-ID`: it continues
 * there, without a gap and without a repetition, on whichever server. The other events have no id and are lost while a
 * client is away.
 */
export const AccountEvent = z.discriminatedUnion('type', [
  /** A row was added to the audit trail. */
  z.object({ type: z.literal('audit'), record: AuditRecord }),
  /** A call has begun on this server, also one that only reads. The row `call.ended` with the same `call` ends it. */
  z.object({
    type: z.literal('call.started'),
    at: z.iso.datetime(),
    call: z.string(),
    agentId: z.string(),
    session: z.string(),
    tool: z.string(),
    workspace: z.string().nullable(),
    /** The path, the pattern or the first line of the command; without secrets. */
    title: z.string(),
  }),
  /** The position that the client named is gone, or too far back: read the lists again. */
  z.object({ type: z.literal('reset'), at: z.iso.datetime() }),
]);
export type AccountEvent = z.output<typeof AccountEvent>;
