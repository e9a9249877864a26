import { z } from 'zod';
import { exactly, must } from './field-schemas.ts';

const someName = 'be 1 to 64 letters, numbers, dots, underscores or hyphens, the first of them a letter or a number';

export const RunnerName = z.string(must(someName)).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, must(someName));

export const CreateRunner = exactly({
  name: RunnerName,
  expiresAt: z.iso.datetime({ offset: true, ...must('be a time such as 2030-01-31T12:00:00Z') }).optional(),
});

export const Runner = z.object({
  runnerId: z.string(),
  name: z.string(),
  /** `reconnecting`: the connection is lost, and calls in progress wait for a new one. */
  state: z.enum(['online', 'reconnecting', 'offline']),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
  /** The report of the runner when it last connected to this server. */
  report: z
    .object({
      version: z.string(),
      provider: z.string(),
      labels: z.record(z.string(), z.string()),
      capacity: z.int(),
      workspaces: z.array(z.string()),
      makesWorkspaces: z.boolean(),
    })
    .optional(),
  load: z.object({ sandboxes: z.int(), cpu: z.number() }).optional(),
  connectedAt: z.iso.datetime().optional(),
  lastSeenAt: z.iso.datetime().optional(),
  lastError: z.string().optional(),
  /** The last time that a second machine with the same token was refused. */
  lastRefused: z.object({ at: z.iso.datetime(), address: z.string() }).optional(),
});
export type Runner = z.output<typeof Runner>;

export const RunnerList = z.object({ runners: z.array(Runner) });
/** The only answer that has the token. */
export const RunnerMade = z.object({ runner: Runner, token: z.string() });
