import { AppError } from '@croft/protocol';
import { note } from '../../core/accounts/audit-log.ts';
import type { Actor } from '../../core/accounts/registry.ts';
import { defaultLimits, type Platform } from '../platform.ts';
import type { Visit } from './visit.ts';

export interface Entering {
  readonly accountId: string;
  readonly workspaceId: string;
  /** As in the audit trail. */
  readonly label: string;
  readonly signal: AbortSignal;
}

/** The door of a workspace of an account. Throws `E_NOT_FOUND` for another account's, as for nobody's. */
export async function enter(platform: Platform, { accountId, workspaceId, label, signal }: Entering): Promise<Visit> {
  const door = await platform.files.of(accountId, workspaceId);
  const now = () => new Date((platform.now ?? Date.now)());
  return {
    ...{ door, label, signal },
    maxUploadBytes: platform.limits?.uploadBytes ?? defaultLimits.uploadBytes,
    audit: (action, details) =>
      platform.records.change((tables) =>
        note(tables, { accountId, at: now(), actor: label, action, target: workspaceId, details }),
      ),
  };
}

/** The id of the key somebody came with. */
export function keyIdOf({ label }: Actor): string {
  const [, keyId] = /^key (key_[0-9a-f]{24})$/.exec(label) ?? [];
  if (keyId === undefined) throw new AppError('E_FORBIDDEN', 'this needs a key of the account itself');
  return keyId;
}
