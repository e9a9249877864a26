import { z } from 'zod';

/** Something that happened. Each row holds the hash of the row before; the hash is made with a key of the server. */
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

/** How far the trail had come at a moment. Signed with a key of the server. */
export const AuditHead = z.object({
  rows: z.int().nonnegative(),
  hash: z.string(),
  at: z.iso.datetime(),
  since: z.object({ rows: z.int().nonnegative(), at: z.iso.datetime() }),
  cut: z.object({ rows: z.int().nonnegative(), at: z.iso.datetime() }).optional(),
  signature: z.string(),
});

/** What checking the trail has found, and what it can and cannot show. */
export const AuditVerdict = z.object({
  whole: z.boolean(),
  rows: z.int().nonnegative(),
  older: z.int().nonnegative(),
  broken: z.object({ row: z.int(), reason: z.string() }).optional(),
  problems: z.array(z.string()),
  shows: z.array(z.string()),
  cannotShow: z.array(z.string()),
});
