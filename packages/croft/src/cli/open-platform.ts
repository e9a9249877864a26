import type { RoomLimits } from '../app/account-room.ts';
import { createHistories } from '../app/histories.ts';
import { createLayered } from '../app/layered.ts';
import { createPlatform, type Platform } from '../app/platform.ts';
import type { App } from '../app.ts';
import { defaultSandbox } from '../app.ts';
import type { Config } from '../config.ts';
import { parseSize } from '../lib/parse-size.ts';
import { UsageError } from '../lib/usage-error.ts';
import { createWebhook, type Webhook } from '../lib/webhook.ts';
import { findKeys } from './key-file.ts';
import { toLimits } from './limits.ts';

export interface PlatformFlags {
  readonly values: {
    readonly 'database-url'?: string;
    readonly 'approval-webhook'?: string;
    readonly 'account-limit'?: readonly string[];
    readonly limit?: readonly string[];
    readonly network?: string;
    readonly 'format-on-edit'?: boolean;
  };
  readonly data: string;
  readonly config: Pick<Config, 'databaseUrl' | 'keys' | 'webhookSecret' | 's3'>;
  onWarning(message: string): void;
}

/** A database that cannot be opened stops the program, with the reason. */
export async function openPlatform(app: App, flags: PlatformFlags): Promise<Platform> {
  const { values, data, config, onWarning } = flags;
  const keys = findKeys(data, config.keys);
  const webhook = toWebhook(flags);
  const room = toRoom(values['account-limit'] ?? []);
  try {
    return await createPlatform({
      ...{ data, keys, databaseUrl: values['database-url'] ?? config.databaseUrl },
      ...{ provider: app.provider, furnish: app.furnish, skills: app.skills, emit: app.emit, onWarning },
      ...openHistories(app, flags),
      buckets: config.s3,
      limits: { ...defaultSandbox.limits, ...toLimits(values.limit ?? []) },
      room,
      sharesNetwork: values.network === 'allow-all',
      onSweepFailure: (thrown) => onWarning(`old records were not taken away: ${thrown}`),
      ...(webhook && {
        onApprovalRequested: (approval, { accountId, inbox }) =>
          webhook.send({ type: 'approval.requested', accountId, inbox, approval }),
      }),
      formatOnEdit: values['format-on-edit'] ?? false,
    });
  } catch (thrown) {
    throw new UsageError(`records: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

/** Those of the workspaces that were given by flags, so that one process follows all. */
function openHistories({ histories, layered }: App, { data, onWarning }: PlatformFlags) {
  const own = histories ?? createHistories({ data, onWarning });
  return { histories: own, layered: layered ?? createLayered(data, own, onWarning) };
}

function toWebhook({ values, config, onWarning }: PlatformFlags): Webhook | undefined {
  const url = values['approval-webhook'];
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`--approval-webhook takes an address that begins with https://, not ${url}`);
  const { webhookSecret: secret } = config;
  if (secret === undefined)
    throw new UsageError('--approval-webhook needs CROFT_WEBHOOK_SECRET, by which its receiver knows that it is us');
  const onLost = (reason: string) => onWarning(`the approval webhook was not told: ${reason}`);
  return createWebhook({ url, secret, fetch: globalThis.fetch, now: () => new Date(), onLost });
}

/** `sandboxes=N` and `storage=SIZE`. */
function toRoom(entries: readonly string[]): Partial<RoomLimits> {
  return Object.assign({}, ...entries.map(toRoomLimit));
}

function toRoomLimit(entry: string): Partial<RoomLimits> {
  const [, name, value = ''] = /^(sandboxes|storage)=(.+)$/.exec(entry) ?? [];
  const amount = name === 'storage' ? parseSize(value) : Number(value);
  if (name === undefined || amount === undefined || !Number.isSafeInteger(amount) || amount < 0)
    throw new UsageError(`--account-limit takes sandboxes=N or storage=SIZE, not ${entry}`);
  return name === 'storage' ? { storageBytes: amount } : { sandboxes: amount };
}
