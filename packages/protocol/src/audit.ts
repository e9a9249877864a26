import { z } from 'zod';

/** Something that happened. Each row holds the hash of the row before, so that none can be changed or taken out. */
export const AuditRecord = z.object({
  sequence: z.int().positive(),
  accountId: z.string(),
  at: z.iso.datetime(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  /** JSON, without anything secret. */
  details: z.string(),
  previous: z.string(),
  hash: z.string(),
});
export type AuditRecord = z.output<typeof AuditRecord>;
