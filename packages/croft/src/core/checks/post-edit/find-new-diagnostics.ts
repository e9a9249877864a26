import type { CodeDiagnostic } from '../../code/ports/code-answers.ts';

/**
 * Returns the diagnostics of a file that a server did not report before an edit. Lines shift with an edit, so two
 * diagnostics are the same if their words are. Of several with the same words, those on other lines than before and
 * nearest to the top are new.
 */
export function findNewDiagnostics(
  before: readonly CodeDiagnostic[],
  after: readonly CodeDiagnostic[],
): CodeDiagnostic[] {
  const old = countBy(before, placedKey);
  const moved = after.filter((item) => !take(old, placedKey(item)));
  const left = countBy(takeAll(before, countBy(after, placedKey)), key);
  const isNew = new Set(moved.toReversed().filter((item) => !take(left, key(item))));
  return after.filter((item) => isNew.has(item));
}

function key({ severity, code = '', message }: CodeDiagnostic): string {
  return JSON.stringify([severity, code, message]);
}

function placedKey(item: CodeDiagnostic): string {
  return `${item.line} ${key(item)}`;
}

function countBy(items: readonly CodeDiagnostic[], keyOf: (item: CodeDiagnostic) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

/** Takes one of the counted diagnostics with this key. Returns false if none is left. */
function take(counts: Map<string, number>, one: string): boolean {
  const count = counts.get(one) ?? 0;
  if (count > 0) counts.set(one, count - 1);
  return count > 0;
}

/** Returns the items that are not in `counts`: on their line, there was no such message before. */
function takeAll(items: readonly CodeDiagnostic[], counts: Map<string, number>): CodeDiagnostic[] {
  return items.filter((item) => !take(counts, placedKey(item)));
}
