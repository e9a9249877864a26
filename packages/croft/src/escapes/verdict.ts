import type { Outcome } from './escape.ts';

/** What went wrong in an attempt, if it did. */
export type Problem = string | undefined | false;

const maxTold = 4;

/** Held, unless there is something to tell. */
export function verdict(...problems: readonly (Problem | readonly Problem[])[]): Outcome {
  const found = problems.flat().filter((problem) => typeof problem === 'string');
  if (found.length === 0) return { held: true };
  const rest = found.length > maxTold ? `; and ${found.length - maxTold} more` : '';
  return { held: false, how: found.slice(0, maxTold).join('; ') + rest };
}
