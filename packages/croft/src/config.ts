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
  CROFT_ADMIN_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe('Token of the admin of `croft serve`, who makes accounts. Left out: made once, in `<data>/admin-token`'),
  CROFT_KEYS: z
    .string()
    .min(1)
    .optional()
    .describe(
      'What records are sealed with: `pepper VALUE,NAME VALUE,…`, 32 bytes each in base64url, the newest key first. ' +
        'Left out: made once, in `<data>/keys`',
    ),
  CROFT_WEBHOOK_SECRET: z
    .string()
    .min(16)
    .optional()
    .describe('Signs what `--approval-webhook` is told; its receiver has it too'),
  CROFT_DATABASE_URL: z
    .string()
    .min(1)
    .optional()
    .describe('PostgreSQL database for records, unless `--database-url` says. Left out: SQLite, in `<data>/croft.db`'),
  CROFT_DATA: z.string().min(1).optional().describe('Where Croft keeps what is its own, unless `--data` says'),
  XDG_DATA_HOME: z.string().optional().describe('Its folder `croft` is the data directory when nothing else says'),
});

export type Config = ReturnType<typeof loadConfig>;

/** Reads the environment once, at start. A bad value stops the program; it never falls back. */
export function loadConfig(environment: NodeJS.ProcessEnv) {
  const result = Settings.safeParse(environment);
  if (!result.success)
    throw new UsageError(result.error.issues.map(({ path, message }) => `${path}: ${message}`).join('; '));
  const {
    CROFT_TOKEN,
    CROFT_ADMIN_TOKEN,
    CROFT_KEYS,
    CROFT_WEBHOOK_SECRET,
    CROFT_DATABASE_URL,
    CROFT_DATA,
    XDG_DATA_HOME,
  } = result.data;
  return {
    token: CROFT_TOKEN,
    adminToken: CROFT_ADMIN_TOKEN,
    keys: CROFT_KEYS,
    databaseUrl: CROFT_DATABASE_URL,
    webhookSecret: CROFT_WEBHOOK_SECRET,
    host: { path: environment.PATH ?? '', home: homedir(), variables: environment },
    data: CROFT_DATA ?? join(XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'croft'),
  } as const;
}
