import { AppError, type ErrorCode } from '@croft/protocol';

/** What is wrong with one path, and says nothing of the others. */
const ofOnePath: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['E_FILE_NOT_FOUND', 'E_NOT_A_FILE', 'E_NOT_A_DIRECTORY', 'E_SANDBOX_VIOLATION', 'E_DANGLING_LINK'] as const),
  ...(['E_LINK_LOOP', 'E_PERMISSION_DENIED', 'E_INVALID_PATH', 'E_NAME_TOO_LONG', 'E_STALE'] as const),
]);

/** For looking at what may be there in any shape. A storage or a machine that fails is no answer, and is thrown. */
export function passOver(thrown: unknown): undefined {
  if (AppError.is(thrown) && ofOnePath.has(thrown.code)) return undefined;
  throw thrown;
}
