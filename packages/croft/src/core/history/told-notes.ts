import type { FileState, Replacement } from '../files.ts';
import type { CheckpointLog } from './checkpoint-log.ts';
import type { HistoryCall } from './history.ts';
import type { CheckpointNote } from './notes.ts';
import type { Seen } from './settling.ts';
import type { Content } from './store.ts';
import { emptyRoot, type PathChange, type TreeEntry, type TreePath } from './tree.ts';
import { isSame } from './tree-change.ts';
import type { WorkingTree } from './working-tree.ts';

export interface ToldNotesOptions {
  readonly tree: Pick<WorkingTree, 'draft' | 'isOfSource'>;
  readonly log: Pick<CheckpointLog, 'addAll'>;
  readonly seen: Seen;
  /** Looks, and gives what is found to whose it is, but for this path. */
  settleBut(path: TreePath): Promise<void>;
  /** Larger files are not kept. */
  readonly maxFileBytes: number;
  onCheckpoint(): void;
}

/** What a call told, and when. */
export interface Told {
  /** Of the call. */
  readonly id: string;
  readonly call: HistoryCall;
  readonly at: string;
  readonly replacement: Replacement;
}

const hash = /^[0-9a-f]{64}$/;

/**
 * Makes checkpoints of what calls told, in order. What was at a path before and after is known exactly, so that it does not
 * matter what else has changed by then: both trees are made of the one that is known, which others' changes are found to
 * differ from by the next look.
 */
export function createToldNotes({ tree, log, seen, settleBut, maxFileBytes, onCheckpoint }: ToldNotesOptions) {
  let notes: CheckpointNote[] = [];
  let contents: Content[] = [];

  async function keep(): Promise<void> {
    const [made, needed] = [notes, contents];
    [notes, contents] = [[], []];
    await log.addAll(made, needed);
    made.forEach(onCheckpoint);
  }

  async function note(told: Told, change: PathChange): Promise<void> {
    const isOfSource = seen.root === undefined ? undefined : await tree.isOfSource(change.path);
    if (isOfSource) seen.root = await draft(told, change);
    if (isOfSource !== undefined) return;
    await keep();
    await settleBut(change.path);
    // What was looked at stays what is known: somebody may have come after what is told.
    if ((await tree.isOfSource(change.path)) !== false) await draft(told, change);
  }

  /** Answers the tree after it. */
  async function draft({ id, call, at, replacement }: Told, { path, before, after }: PathChange) {
    const root = seen.root ?? emptyRoot;
    const is = await tree.draft(root, { path, after });
    const isAsKnown = isSame(is.found, before);
    const was = isAsKnown ? { root, contents: [] } : await tree.draft(root, { path, after: before });
    const states = isAsKnown ? [replacement.after] : [replacement.before, replacement.after];
    notes.push({ callId: id, call, at, before: was.root, after: is.root, paths: 1 });
    contents.push(...states.flatMap(toContents), ...was.contents, ...is.contents);
    return is.root;
  }

  function toContents(state: FileState | undefined): Content[] {
    if (!state?.bytes || state.size > maxFileBytes) return [];
    return [{ hash: state.version, size: state.size, bytes: state.bytes }];
  }

  async function noteAll(all: readonly Told[]): Promise<void> {
    for (const told of all) {
      const change = toChange(told.replacement);
      if (change) await note(told, change);
    }
    await keep();
  }

  return (all: readonly Told[]): Promise<void> =>
    noteAll(all).catch((thrown) => {
      // What is known may not be kept: a look has to find it.
      [notes, contents, seen.root] = [[], [], undefined];
      throw thrown;
    });
}

/** Nothing where nothing has changed, or what was there was too large to be hashed. */
function toChange({ path, before, after }: Replacement): PathChange | undefined {
  const [was, is] = [before && toEntry(before), toEntry(after)];
  return isSame(was, is) || (was && !hash.test(was.hash)) ? undefined : { path, before: was, after: is };
}

function toEntry({ mode, size, version }: FileState): TreeEntry {
  return { kind: 'file', mode, size, hash: version };
}
