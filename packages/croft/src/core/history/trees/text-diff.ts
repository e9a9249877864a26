import { createTwoFilesPatch, OMIT_HEADERS } from 'diff';
import type { FileDiff } from '../ports/history.ts';
import type { HistoryStore } from '../ports/history-store.ts';
import type { PathChange, TreeEntry } from '../ports/tree.ts';

const maxFileBytes = 256 * 1024;
const maxAllText = 1024 * 1024;
/** Ends a comparison early: two texts with nothing in common take time quadratic in their lines. */
const bounds = { context: 3, maxEditLength: 5000, timeout: 300 };
/** Time limit for all comparisons of a call: thousands of such texts would block everybody. */
const maxAllMs = 3000;

/** Adds a unified diff to each change, until the text limit or the time limit is reached. */
export async function toFileDiffs(
  changes: readonly PathChange[],
  store: Pick<HistoryStore, 'read'>,
  signal?: AbortSignal,
): Promise<FileDiff[]> {
  const diffs: FileDiff[] = [];
  let [textLeft, msLeft] = [maxAllText, maxAllMs];
  for (const change of changes) {
    signal?.throwIfAborted();
    const texts = Math.min(textLeft, msLeft) > 0 && isComparable(change) ? await readTexts(change, store) : undefined;
    const from = performance.now();
    const text = texts && compare(change, texts);
    msLeft -= performance.now() - from;
    // Lets other calls run.
    if (texts) await new Promise((resolve) => setImmediate(resolve));
    const isShown = text !== undefined && text.length <= textLeft;
    if (isShown) textLeft -= text.length;
    diffs.push(isShown ? { ...change, text } : change);
  }
  return diffs;
}

function isComparable({ before, after }: PathChange): boolean {
  const isSmallFile = (entry: TreeEntry | undefined) => !entry || (entry.kind === 'file' && entry.size <= maxFileBytes);
  return isSmallFile(before) && isSmallFile(after) && before?.hash !== after?.hash;
}

async function readTexts(
  { before, after }: PathChange,
  store: Pick<HistoryStore, 'read'>,
): Promise<readonly [string, string] | undefined> {
  // If a content is missing, the other paths still get their diffs.
  const texts = await Promise.all([before, after].map((entry) => readText(entry, store))).catch(() => []);
  const [old, new_] = texts;
  return old === undefined || new_ === undefined ? undefined : [old, new_];
}

function compare({ path, before, after }: PathChange, [old, new_]: readonly [string, string]): string | undefined {
  const hunks = createTwoFilesPatch('', '', old, new_, '', '', { ...bounds, headerOptions: OMIT_HEADERS });
  if (hunks === undefined) return undefined;
  return `--- ${before ? printableName(`a/${path}`) : '/dev/null'}\n+++ ${after ? printableName(`b/${path}`) : '/dev/null'}\n${hunks}`;
}

async function readText(entry: TreeEntry | undefined, store: Pick<HistoryStore, 'read'>): Promise<string | undefined> {
  if (!entry) return '';
  const bytes = await store.read(entry.hash);
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Quotes a path with control characters: a line break in a name must not look like two lines of a diff. */
export function printableName(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}
