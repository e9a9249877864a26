import { AppError, type ErrorCode } from '@croft/protocol';

/** Errors of one path that say nothing about others. */
const singlePathErrors: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['E_FILE_NOT_FOUND', 'E_NOT_A_FILE', 'E_NOT_A_DIRECTORY', 'E_SANDBOX_VIOLATION', 'E_DANGLING_LINK'] as const),
  ...(['E_LINK_LOOP', 'E_PERMISSION_DENIED', 'E_INVALID_PATH', 'E_NAME_TOO_LONG', 'E_STALE'] as const),
]);

/**
 * Ignores errors of a single path, for paths that may hold anything. Failures of the storage or the machine are thrown.
 */
export function ignorePathError(thrown: unknown): undefined {
  if (AppError.is(thrown) && singlePathErrors.has(thrown.code)) return undefined;
  throw thrown;
}
