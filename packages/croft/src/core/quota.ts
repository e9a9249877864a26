import { AppError } from '@croft/protocol';
import type { WorkspaceQuota } from './storage.ts';

/** How much a workspace holds. */
export interface Held {
  readonly bytes: number;
  readonly files: number;
}

/** Throws `E_QUOTA` for what would be too much. What makes room is let through, also where there is too much already. */
export function checkQuota(before: Held, after: Held, quota: WorkspaceQuota): void {
  const { bytes, files } = quota;
  if (bytes !== undefined && after.bytes > bytes && after.bytes > before.bytes) throw over('bytes', after.bytes, bytes);
  if (files !== undefined && after.files > files && after.files > before.files) throw over('files', after.files, files);
}

function over(limit: 'bytes' | 'files', used: number, allowed: number): AppError {
  const message = `with this change the workspace would hold ${used} ${limit}, and it may hold ${allowed}: the change does not count until there is room`;
  return new AppError('E_QUOTA', message, { details: { limit, used, allowed } });
}
