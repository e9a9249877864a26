import { AppError } from '@croft/protocol';

const codes: ReadonlySet<string> = new Set(['E_SANDBOX_UNAVAILABLE', 'E_RUNNER_LOST', 'E_TIMEOUT']);

/** What cannot be read is not there, unless nothing can be: then whoever asks is told, and not that there is nothing. */
export function mustBeReachable(thrown: unknown): void {
  if (AppError.is(thrown) && codes.has(thrown.code)) throw thrown;
}
