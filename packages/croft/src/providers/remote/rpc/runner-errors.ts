import { AppError, type ErrorCode } from '@croft/protocol';

/**
 * The error codes that a runner may use about its files, sandboxes and histories. Only the server uses the other codes.
 */
const codes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['E_INVALID_INPUT', 'E_SANDBOX_VIOLATION', 'E_WORKSPACE_GONE', 'E_CONTROL_FILE'] as const),
  ...(['E_SANDBOX_UNAVAILABLE', 'E_RUNNER_LOST', 'E_INVALID_PATH', 'E_NAME_TOO_LONG', 'E_FILE_NOT_FOUND'] as const),
  ...(['E_NOT_A_FILE', 'E_NOT_A_DIRECTORY', 'E_DANGLING_LINK', 'E_LINK_LOOP', 'E_ALREADY_EXISTS'] as const),
  ...(['E_DIRECTORY_NOT_EMPTY', 'E_STALE', 'E_TOO_LARGE', 'E_PERMISSION_DENIED', 'E_STORAGE_FULL'] as const),
  ...(['E_CONFLICT', 'E_STORAGE_UNAVAILABLE', 'E_STORAGE_FAILED', 'E_COMMAND_REJECTED'] as const),
  ...(['E_COMMAND_NOT_STARTED', 'E_NOT_RUNNING', 'E_TOO_MANY', 'E_TIMEOUT', 'E_CANCELLED', 'E_NOT_FOUND'] as const),
  ...(['E_READ_ONLY', 'E_QUOTA', 'E_INTERNAL'] as const),
  ...(['E_NO_SERVER', 'E_CODE_SERVER', 'E_NO_SYMBOL', 'E_AMBIGUOUS', 'E_NOT_PARSED'] as const),
]);

const maxMessageLength = 8192;

/** The error for an answer that cannot be valid. Nothing of the answer is used. */
export function invalidAnswer(method: string, why: string): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', `the answer of the runner to ${method} is not valid: ${why}`, {
    details: { provider: 'remote', method },
    hint: 'Check what the call did before you repeat it. If the error persists, tell the operator of the runner.',
  });
}

/** Returns an error that came over a link. A code that a runner may not use becomes `E_SANDBOX_UNAVAILABLE`. */
export function toRunnerError(thrown: unknown, method: string): AppError {
  const error = AppError.from(thrown);
  if (!codes.has(error.code)) return invalidAnswer(method, `a runner may not answer with the error ${error.code}`);
  if (error.message.length <= maxMessageLength) return error;
  return new AppError(error.code, error.message.slice(0, maxMessageLength), { details: error.details, cause: error });
}
