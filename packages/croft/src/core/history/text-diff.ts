import { createTwoFilesPatch, OMIT_HEADERS } from 'diff';
import type { FileDiff } from './history.ts';
import type { HistoryStore } from './store.ts';
import type { PathChange, TreeEntry } from './tree.ts';

const maxFileBytes = 256 * 1024;
const maxAllText = 1024 * 1024;
/** Two texts that have nothing in common take the square of their lines to compare: it ends early. */
const bounds = { context: 3, maxEditLength: 5000, timeout: 300 };
/** For all of them: thousands of such texts would keep everybody waiting, each for as long as it may take. */
const maxAllMs = 3000;

/** Each change with a unified diff, as long as there is room for more text. */
export async function toFileDiffs(
  changes: readonly PathChange[],
  store: Pick<HistoryStore, 'read'>,
  signal?: AbortSignal,
): Promise<FileDiff[]> {
  const diffs: FileDiff[] = [];
  let [room, time] = [maxAllText, maxAllMs];
  for (const change of changes) {
    signal?.throwIfAborted();
    const texts = Math.min(room, time) > 0 && isComparable(change) ? await readTexts(change, store) : undefined;
    const from = performance.now();
    const text = texts && compare(change, texts);
    time -= performance.now() - from;
    // Others get their turn.
    if (texts) await new Promise((resolve) => setImmediate(resolve));
    const isShown = text !== undefined && text.length <= room;
    if (isShown) room -= text.length;
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
  // A content that is not kept is no reason to say nothing of the other paths.
  const texts = await Promise.all([before, after].map((entry) => readText(entry, store))).catch(() => []);
  const [old, new_] = texts;
  return old === undefined || new_ === undefined ? undefined : [old, new_];
}

function compare({ path, before, after }: PathChange, [old, new_]: readonly [string, string]): string | undefined {
  const hunks = createTwoFilesPatch('', '', old, new_, '', '', { ...bounds, headerOptions: OMIT_HEADERS });
  if (hunks === undefined) return undefined;
  return `--- ${before ? nameOf(`a/${path}`) : '/dev/null'}\n+++ ${after ? nameOf(`b/${path}`) : '/dev/null'}\n${hunks}`;
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

/** A name with a line break in it must not look like two lines of a diff. */
export function nameOf(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}
