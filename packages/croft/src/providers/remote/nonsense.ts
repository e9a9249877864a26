import { AppError, type ErrorCode } from '@croft/protocol';

/** What a runner may say of its files, sandboxes and histories. The other codes are the server's own to use. */
const codes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['E_INVALID_INPUT', 'E_SANDBOX_VIOLATION', 'E_WORKSPACE_GONE', 'E_CONTROL_FILE'] as const),
  ...(['E_SANDBOX_UNAVAILABLE', 'E_RUNNER_LOST', 'E_INVALID_PATH', 'E_NAME_TOO_LONG', 'E_FILE_NOT_FOUND'] as const),
  ...(['E_NOT_A_FILE', 'E_NOT_A_DIRECTORY', 'E_DANGLING_LINK', 'E_LINK_LOOP', 'E_ALREADY_EXISTS'] as const),
  ...(['E_DIRECTORY_NOT_EMPTY', 'E_STALE', 'E_TOO_LARGE', 'E_PERMISSION_DENIED', 'E_STORAGE_FULL'] as const),
  ...(['E_CONFLICT', 'E_STORAGE_UNAVAILABLE', 'E_STORAGE_FAILED', 'E_COMMAND_REJECTED'] as const),
  ...(['E_COMMAND_NOT_STARTED', 'E_NOT_RUNNING', 'E_TOO_MANY', 'E_TIMEOUT', 'E_CANCELLED', 'E_NOT_FOUND'] as const),
  ...(['E_READ_ONLY', 'E_QUOTA', 'E_INTERNAL'] as const),
]);

const maxMessageLength = 8192;

/** The runner said what cannot be. Nothing of it is used. */
export function nonsense(method: string, why: string): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', `the runner answered ${method} with nonsense: ${why}`, {
    details: { provider: 'remote', method },
  });
}

/** A failure that came over a link, as far as a runner may have failed so. */
export function tame(thrown: unknown, method: string): AppError {
  const error = AppError.from(thrown);
  if (!codes.has(error.code)) return nonsense(method, `the error ${error.code} is none of a runner`);
  if (error.message.length <= maxMessageLength) return error;
  return new AppError(error.code, error.message.slice(0, maxMessageLength), { details: error.details, cause: error });
}
