import { AppError, type ErrorCode } from '@croft/protocol';

/** What the server may say of a bucket: they mean here what they mean there. */
const ofBucket: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['E_STORAGE_UNAVAILABLE', 'E_STORAGE_FAILED', 'E_STALE', 'E_NOT_FOUND', 'E_INVALID_INPUT'] as const),
  ...(['E_INVALID_PATH', 'E_NAME_TOO_LONG', 'E_TOO_LARGE'] as const),
]);
/** It may be otherwise in a moment. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['E_RUNNER_LOST', 'E_TIMEOUT', 'E_TOO_MANY', 'E_CANCELLED']);

/** Throws it as an object store fails: whoever cannot ask the server has a bucket that does not answer. */
export function toStorageFailure(thrown: unknown): never {
  if (!AppError.is(thrown) || ofBucket.has(thrown.code)) throw thrown;
  const code = passing.has(thrown.code) ? 'E_STORAGE_UNAVAILABLE' : 'E_STORAGE_FAILED';
  throw new AppError(code, `the server could not be asked for what is in the bucket: ${thrown.message}`, {
    cause: thrown,
  });
}
