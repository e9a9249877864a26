import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { UsageError } from './lib/usage-error.ts';

/** Every setting that comes from the environment. Flags say the rest. */
export const Settings = z.object({
  CROFT_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe('Token that clients of `croft serve` must send. Left out: made once, in `<data>/token`'),
  CROFT_DATA: z.string().min(1).optional().describe('Where Croft keeps what is its own, unless `--data` says'),
  XDG_DATA_HOME: z.string().optional().describe('Its folder `croft` is the data directory when nothing else says'),
});

export type Config = ReturnType<typeof loadConfig>;

/** Reads the environment once, at start. A bad value stops the program; it never falls back. */
export function loadConfig(environment: NodeJS.ProcessEnv) {
  const result = Settings.safeParse(environment);
  if (!result.success)
    throw new UsageError(result.error.issues.map(({ path, message }) => `${path}: ${message}`).join('; '));
  const { CROFT_TOKEN, CROFT_DATA, XDG_DATA_HOME } = result.data;
  return {
    token: CROFT_TOKEN,
    host: { path: environment.PATH ?? '', home: homedir(), variables: environment },
    data: CROFT_DATA ?? join(XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'croft'),
  } as const;
}
