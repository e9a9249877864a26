import { AppError } from '@croft/protocol';
import { appendAudit } from '../../core/accounts/audit/audit-log.ts';
import type { Actor } from '../../core/accounts/ports/registry.ts';
import { defaultLimits, type RestPlatform } from '../platform/rest-platform.ts';
import type { RouteCall } from '../platform/route.ts';
import type { AuditedFileAccess } from './audited-file-access.ts';

interface OpenFileAccessOptions {
  readonly accountId: string;
  readonly workspaceId: string;
  /** The caller, as the audit trail names it. */
  readonly label: string;
  readonly signal: AbortSignal;
}

/**
 * Opens the files of an account's workspace. Throws `E_NOT_FOUND` for an unknown workspace and for one of another
 * account.
 */
export async function openAuditedFileAccess(
  platform: RestPlatform,
  { accountId, workspaceId, label, signal }: OpenFileAccessOptions,
): Promise<AuditedFileAccess> {
  const workspace = await platform.files.of(accountId, workspaceId);
  const now = () => new Date((platform.now ?? Date.now)());
  return {
    ...{ workspace, label, signal },
    maxUploadBytes: platform.limits?.uploadBytes ?? defaultLimits.uploadBytes,
    audit: (action, details) =>
      platform.records.change((tables) =>
        appendAudit(tables, { accountId, at: now(), actor: label, action, target: workspaceId, details }),
      ),
  };
}

/** Opens the files of the workspace that the route names, for the caller of the route. */
export function openAuditedFileAccessFor(
  platform: RestPlatform,
  call: RouteCall<{ readonly workspaceId: string }>,
): Promise<AuditedFileAccess> {
  const { actor, params, request } = call;
  const { accountId, label } = actor;
  return openAuditedFileAccess(platform, { accountId, workspaceId: params.workspaceId, label, signal: request.signal });
}

/** The id of the key that the caller used. */
export function keyIdOf({ label }: Actor): string {
  const [, keyId] = /^key (key_[0-9a-f]{24})$/.exec(label) ?? [];
  if (keyId === undefined)
    throw new AppError('E_FORBIDDEN', 'this needs a key of the account', {
      hint: 'Send Authorization: Bearer with a key that POST /v1/keys made; the admin token cannot do this.',
    });
  return keyId;
}
