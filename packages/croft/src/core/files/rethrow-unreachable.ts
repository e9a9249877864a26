import { AppError } from '@croft/protocol';

const codes: ReadonlySet<string> = new Set(['E_SANDBOX_UNAVAILABLE', 'E_RUNNER_LOST', 'E_TIMEOUT']);

/**
 * Rethrows an error which says that the whole workspace is unreachable. For callers that treat an unreadable file as a
 * missing one: they must not report an unreachable workspace as empty.
 */
export function rethrowUnreachable(thrown: unknown): void {
  if (AppError.is(thrown) && codes.has(thrown.code)) throw thrown;
}
