import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { parseSize } from './lib/text/parse-size.ts';
import { UsageError } from './lib/usage-error.ts';

/** Whether a client can send the text as a token in a header. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]{16,}$/.test(text);
}

const Token = z.string().refine(isToken, 'takes 16 or more letters, digits and signs, without spaces');

/** Every setting that comes from the environment. All other settings are flags. */
export const Settings = z.object({
  CROFT_TOKEN: Token.optional().describe(
    'Token that clients of `croft serve` must send. Left out: made once, in `<data>/token`',
  ),
  CROFT_ADMIN_TOKEN: Token.optional().describe(
    'Token of the admin of `croft serve`, who makes accounts. Left out: made once, in `<data>/admin-token`',
  ),
  CROFT_KEYS: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The keys that seal records: `pepper VALUE,NAME VALUE,…`, 32 bytes each in base64url, the newest key first. ' +
        'Left out: made once, in `<data>/keys`',
    ),
  CROFT_WEBHOOK_SECRET: z
    .string()
    .min(16)
    .optional()
    .describe('Signs the requests to `--approval-webhook`; the receiver needs the same secret'),
  CROFT_DATABASE_URL: z
    .string()
    .min(1)
    .optional()
    .describe('PostgreSQL database for records, unless `--database-url` says. Left out: SQLite, in `<data>/croft.db`'),
  CROFT_MAX_UPLOAD: z
    .string()
    .refine((text) => (parseSize(text) ?? 0) > 0, 'takes a size such as 500m')
    .optional()
    .describe('The largest file that may be put over REST, such as `500m`. Left out: 100m'),
  CROFT_AUDIT_KEEP: z
    .string()
    .refine((text) => parseSize(text) !== undefined, 'takes a size such as 64m')
    .optional()
    .describe(
      'Size limit of the audit trail of calls in workspaces that flags name, in `<data>/local-audit`; the oldest rows ' +
        'are removed. `0`: no trail. Default: 64m',
    ),
  CROFT_S3_BUCKET: z
    .string()
    .min(3)
    .optional()
    .describe('Bucket for workspaces whose storage is `s3` and `managed`. Default: no such workspaces'),
  CROFT_S3_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where that bucket is, such as `https://s3.example.com`. Left out: at AWS'),
  CROFT_S3_REGION: z.string().min(1).optional().describe('The region of that bucket. Left out: `us-east-1`'),
  CROFT_S3_PREFIX: z.string().optional().describe('Before all keys in that bucket'),
  CROFT_S3_ACCESS_KEY_ID: z.string().min(1).optional().describe('The key for that bucket; nothing of `AWS_*` is read'),
  CROFT_S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('Its secret'),
  CROFT_S3_ALLOW_PRIVATE: z
    .enum(['1', '0'])
    .optional()
    .describe('`1`: buckets of accounts may be at addresses of this machine and of private networks, also without TLS'),
  CROFT_DOCKER_HOST: z
    .string()
    .regex(/^unix:\/\/\/./, 'takes a socket of this machine, such as unix:///var/run/docker.sock')
    .default('unix:///var/run/docker.sock')
    .describe('Where `--sandbox docker` finds Docker, or Podman. Left out: `unix:///var/run/docker.sock`'),
  CROFT_SERVER: z
    .string()
    .min(1)
    .optional()
    .describe('The server of client commands, unless `--server` or `--context` says'),
  CROFT_KEY: z.string().min(1).optional().describe('The key of an account, for client commands'),
  CROFT_KEY_FILE: z.string().min(1).optional().describe('A file that holds that key'),
  CROFT_CONTEXT: z.string().min(1).optional().describe('The context of client commands. Left out: the current one'),
  CROFT_DATA: z.string().min(1).optional().describe('The data directory, unless `--data` names one'),
  XDG_CONFIG_HOME: z
    .string()
    .optional()
    .describe('Its file `croft/config.toml` has the contexts of client commands. Left out: `~/.config`'),
  XDG_DATA_HOME: z.string().optional().describe('Its folder `croft` is the data directory when nothing else says'),
});

export type Config = ReturnType<typeof loadConfig>;

/** Reads the environment once, at start. An invalid value stops the program; there is no fallback. */
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
    CROFT_MAX_UPLOAD,
    CROFT_AUDIT_KEEP,
    CROFT_DOCKER_HOST,
    CROFT_SERVER,
    CROFT_KEY,
    CROFT_KEY_FILE,
    CROFT_CONTEXT,
    CROFT_DATA,
    XDG_CONFIG_HOME,
    XDG_DATA_HOME,
    ...others
  } = result.data;
  const dockerSocket = CROFT_DOCKER_HOST.slice('unix://'.length);
  const home = findHome();
  return {
    token: CROFT_TOKEN,
    adminToken: CROFT_ADMIN_TOKEN,
    keys: CROFT_KEYS,
    databaseUrl: CROFT_DATABASE_URL,
    webhookSecret: CROFT_WEBHOOK_SECRET,
    maxUploadBytes: parseSize(CROFT_MAX_UPLOAD ?? '100m') ?? 0,
    auditBytes: parseSize(CROFT_AUDIT_KEEP ?? '64m') ?? 0,
    s3: toS3(others),
    host: { path: environment.PATH ?? '', home, variables: environment, dockerSocket },
    dockerSocket,
    client: {
      server: CROFT_SERVER,
      key: CROFT_KEY,
      keyFile: CROFT_KEY_FILE,
      context: CROFT_CONTEXT,
      configHome: XDG_CONFIG_HOME || join(home, '.config'),
      keyCommandMs: 60_000 as number,
    },
    data: resolve(CROFT_DATA ?? join(XDG_DATA_HOME || join(home, '.local', 'share'), 'croft')),
  } as const;
}

/** A user without an entry in the user database, as in a container, has no home directory. */
function findHome(): string {
  try {
    return homedir() || '/';
  } catch {
    return '/';
  }
}

type S3Settings = Pick<z.output<typeof Settings>, Extract<keyof z.output<typeof Settings>, `CROFT_S3_${string}`>>;

/** The operator's bucket, complete or not at all, and what accounts may do with their own buckets. */
function toS3(settings: S3Settings) {
  const { CROFT_S3_BUCKET: bucket, CROFT_S3_ACCESS_KEY_ID: accessKeyId } = settings;
  const { CROFT_S3_SECRET_ACCESS_KEY: secretAccessKey, CROFT_S3_ENDPOINT: endpoint } = settings;
  const { CROFT_S3_REGION: region = 'us-east-1', CROFT_S3_PREFIX: prefix = '' } = settings;
  const allowPrivate = settings.CROFT_S3_ALLOW_PRIVATE === '1';
  if (bucket === undefined) return { allowPrivate };
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new UsageError('CROFT_S3_BUCKET needs CROFT_S3_ACCESS_KEY_ID and CROFT_S3_SECRET_ACCESS_KEY');
  return { allowPrivate, managed: { bucket, endpoint, region, prefix, credentials: { accessKeyId, secretAccessKey } } };
}
