import { z } from 'zod';

export const Health = z.object({
  status: z.literal('ok'),
  version: z.string(),
});
export type Health = z.output<typeof Health>;

/** A dependency of the server. `reason` and `since` are present while it fails. */
export const DependencyState = z.object({
  status: z.enum(['ok', 'failed']),
  reason: z.string().optional(),
  since: z.iso.datetime().optional(),
});
export type DependencyState = z.output<typeof DependencyState>;

/** Whether the server can work now, with the state of each dependency by name. */
export const Readiness = z.object({
  status: z.enum(['ready', 'not_ready', 'stopping']),
  version: z.string(),
  dependencies: z.record(z.string(), DependencyState),
});
export type Readiness = z.output<typeof Readiness>;
