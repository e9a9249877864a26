import type { App } from '../../app/app.ts';
import { defaultSandboxOptions } from '../../app/app.ts';
import { createOverlays } from '../../app/forks/overlays.ts';
import { createPlatform, type ServerPlatform } from '../../app/platform.ts';
import type { ServerBounds } from '../../app/server/server-bounds.ts';
import { createWorkspaceHistories } from '../../app/workspaces/workspace-histories.ts';
import type { Config } from '../../config.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { createWebhook, type Webhook } from '../../lib/net/webhook.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { findServerKeys } from '../find-server-keys.ts';
import { toEditChecks } from '../options/edit-check-options.ts';
import { toSandboxLimits } from '../options/sandbox-limits.ts';

interface PlatformFlags {
  readonly values: {
    readonly 'database-url'?: string;
    readonly 'approval-webhook'?: string;
    readonly limit?: readonly string[];
    readonly network?: string;
    readonly 'format-on-edit'?: boolean;
    readonly 'edit-check-seconds'?: string;
  };
  readonly data: string;
  readonly bounds: ServerBounds;
  readonly isReachable: boolean;
  readonly config: Pick<Config, 'databaseUrl' | 'keys' | 'webhookSecret' | 's3'>;
  onWarning(message: string): void;
}

/** Opens the platform of `croft serve`. A database that cannot be opened stops the program, with the reason. */
export async function openPlatform(app: App, flags: PlatformFlags): Promise<ServerPlatform> {
  const { values, data, bounds, isReachable, config, onWarning } = flags;
  const keys = findServerKeys(data, config.keys);
  const webhook = toWebhook(flags);
  try {
    return await createPlatform({
      ...{ data, keys, databaseUrl: values['database-url'] ?? config.databaseUrl },
      ...{
        provider: app.provider,
        openSandboxes: app.openSandboxes,
        assembleWorkspace: app.assembleWorkspace,
        openSearch: app.openSearch,
        codeIndexes: app.codeIndexes,
        renderDiagram: app.renderDiagram,
        skills: app.skills,
        shelf: app.shelf,
        emit: app.emit,
        onWarning,
      },
      ...openHistories(app, flags),
      buckets: config.s3,
      limits: { ...defaultSandboxOptions.limits, ...toSandboxLimits(values.limit ?? []) },
      ...{ bounds, isReachable },
      sharesNetwork: values.network === 'allow-all',
      onSweepFailure: (thrown) => onWarning(`expired records were not removed: ${thrown}`),
      ...(webhook && {
        onApprovalRequested: (approval, { accountId, inbox }) =>
          webhook.send({ type: 'approval.requested', accountId, inbox, approval }),
      }),
      editChecks: toEditChecks(values),
    });
  } catch (thrown) {
    throw new UsageError(`records: ${errorMessage(thrown)}`);
  }
}

/** Reuses the histories of the workspaces that flags name, so that one process follows all workspaces. */
function openHistories({ histories, layered }: App, { data, onWarning }: PlatformFlags) {
  const own = histories ?? createWorkspaceHistories({ data, onWarning });
  return { histories: own, layered: layered ?? createOverlays(data, own, onWarning) };
}

function toWebhook({ values, config, onWarning }: PlatformFlags): Webhook | undefined {
  const url = values['approval-webhook'];
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`--approval-webhook takes an address that begins with https://, not ${url}`);
  const { webhookSecret: secret } = config;
  if (secret === undefined)
    throw new UsageError(
      '--approval-webhook needs CROFT_WEBHOOK_SECRET, with which the receiver checks that Croft sent the request',
    );
  const onLost = (reason: string) => onWarning(`the approval webhook could not be called: ${reason}`);
  return createWebhook({ url, secret, fetch: globalThis.fetch, now: () => new Date(), onLost });
}
