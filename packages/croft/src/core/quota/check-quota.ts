import { AppError } from '@croft/protocol';
import type { WorkspaceQuota } from '../storage/stored-mount.ts';

/** The space that a workspace uses, or the change of it. */
export interface StorageUse {
  readonly bytes: number;
  readonly files: number;
}

/**
 * Throws `E_QUOTA` for a change that exceeds the quota. A change that frees space always passes, even above the quota.
 */
export function checkQuota(before: StorageUse, after: StorageUse, quota: WorkspaceQuota): void {
  const { bytes, files } = quota;
  if (bytes !== undefined && after.bytes > bytes && after.bytes > before.bytes) throw over('bytes', after.bytes, bytes);
  if (files !== undefined && after.files > files && after.files > before.files) throw over('files', after.files, files);
}

export function isOverQuota(used: StorageUse, { bytes = used.bytes, files = used.files }: WorkspaceQuota): boolean {
  return used.bytes > bytes || used.files > files;
}

function over(limit: 'bytes' | 'files', used: number, allowed: number): AppError {
  const message = `with this change the workspace would hold ${used} ${limit}, and it may hold ${allowed}`;
  return new AppError('E_QUOTA', message, { details: { limit, used, allowed } });
}
