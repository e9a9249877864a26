import { CroftError } from '../errors/croft-error.ts';

/** `fetch` of Node waits five minutes for an answer. A call ends before that, with everything that it started. */
export const longestCallSeconds = 280;

/** Throws for a time that no call may take. */
export function toCallSeconds(timeout: number = longestCallSeconds): number {
  if (timeout > 0 && timeout <= longestCallSeconds) return timeout;
  throw new CroftError('E_INVALID_INPUT', `timeout takes more than 0 and at most ${longestCallSeconds} seconds`, {
    details: { timeout },
    hint: 'Run what takes longer with `background: true`: no time limit ends it.',
  });
}
