import { z } from 'zod';

/** One row of the audit trail. Each row has the hash of the previous row, made with a key of the server. */
export const AuditRecord = z.object({
  sequence: z.int().positive(),
  accountId: z.string(),
  at: z.iso.datetime(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  /** JSON, without secrets. */
  details: z.string(),
  previous: z.string(),
  hash: z.string(),
});
export type AuditRecord = z.output<typeof AuditRecord>;

/** The end of the trail at one time: the number of rows and the last hash. Signed with a key of the server. */
export const AuditHead = z.object({
  rows: z.int().nonnegative(),
  hash: z.string(),
  at: z.iso.datetime(),
  since: z.object({ rows: z.int().nonnegative(), at: z.iso.datetime() }),
  cut: z.object({ rows: z.int().nonnegative(), at: z.iso.datetime() }).optional(),
  signature: z.string(),
});

/** The result of verifying the trail, with the limits of that proof. */
export const AuditVerdict = z.object({
  whole: z.boolean(),
  rows: z.int().nonnegative(),
  older: z.int().nonnegative(),
  broken: z.object({ row: z.int(), reason: z.string() }).optional(),
  problems: z.array(z.string()),
  shows: z.array(z.string()),
  cannotShow: z.array(z.string()),
});
