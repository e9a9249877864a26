import type { EscapeOutcome } from './escape.ts';

/** A way in which an attempt got through; `undefined` or `false` if it did not. */
export type Problem = string | undefined | false;

const maxReported = 4;

/** Returns `held: true` unless there are problems. */
export function toVerdict(...problems: readonly (Problem | readonly Problem[])[]): EscapeOutcome {
  const found = problems.flat().filter((problem) => typeof problem === 'string');
  if (found.length === 0) return { held: true };
  const rest = found.length > maxReported ? `; and ${found.length - maxReported} more` : '';
  return { held: false, how: found.slice(0, maxReported).join('; ') + rest };
}
