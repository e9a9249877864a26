import { AppError, type ErrorCode } from '@croft/protocol';

/** Error codes of a bucket that the server may use, passed on unchanged. */
const ofBucket: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['E_STORAGE_UNAVAILABLE', 'E_STORAGE_FAILED', 'E_STALE', 'E_NOT_FOUND', 'E_INVALID_INPUT'] as const),
  ...(['E_INVALID_PATH', 'E_NAME_TOO_LONG', 'E_TOO_LARGE'] as const),
]);
/** Codes of failures that may soon be over. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['E_RUNNER_LOST', 'E_TIMEOUT', 'E_TOO_MANY', 'E_CANCELLED']);

/**
 * Runs on a runner. Rethrows a failure of the link as a failure of the object store: a runner that cannot ask the
 * server has a bucket that does not answer.
 */
export function throwStorageFailure(thrown: unknown): never {
  if (!AppError.is(thrown) || ofBucket.has(thrown.code)) throw thrown;
  const code = passing.has(thrown.code) ? 'E_STORAGE_UNAVAILABLE' : 'E_STORAGE_FAILED';
  throw new AppError(code, `the bucket could not be reached through the server: ${thrown.message}`, {
    cause: thrown,
  });
}
