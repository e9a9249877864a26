import type { FileDiff } from '../../core/history/ports/history.ts';

/** Enough for a person. A tree can have far more. */
const maxChanges = 2000;

/** Converts changed paths to an answer: their number, and the first of them with their text. */
export function toDiffAnswer(diffs: readonly FileDiff[]) {
  const changes = diffs.slice(0, maxChanges).map(({ text, path, ...change }) => ({
    ...{ path: path.toWellFormed(), ...change },
    ...(text !== undefined && { diff: text }),
  }));
  return { paths: diffs.length, changes };
}
