import type { FileState, Replacement } from '../files.ts';
import type { CheckpointLog } from './checkpoint-log.ts';
import type { HistoryCall } from './history.ts';
import type { Seen } from './settling.ts';
import type { Content } from './store.ts';
import type { PathChange, TreeEntry, TreePath } from './tree.ts';
import { isSame } from './tree-change.ts';
import type { WorkingTree } from './working-tree.ts';

export interface ToldNotesOptions {
  readonly tree: Pick<WorkingTree, 'draft' | 'isOfSource'>;
  readonly log: CheckpointLog;
  readonly seen: Seen;
  /** Looks, and gives what is found to whose it is, but for this path. */
  settleBut(path: TreePath): Promise<void>;
  now(): Date;
  /** Larger files are not kept. */
  readonly maxFileBytes: number;
  onFailure(thrown: unknown): void;
  onCheckpoint(): void;
}

/** A call that tells. */
export interface TellingCall {
  readonly id: string;
  readonly call: HistoryCall;
}

/** What is told and not noted yet is held in memory: those who tell more wait. */
const maxWaiting = 16;
const hash = /^[0-9a-f]{64}$/;

export type ToldNotes = ReturnType<typeof createToldNotes>;

/**
 * Checkpoints of what calls tell, in the order in which they told it and after they are answered. What was at a path before
 * and after is known exactly, so that it does not matter what else has changed by then: both trees are made of the one
 * that is known, which others' changes are found to differ from by the next look.
 */
export function createToldNotes(options: ToldNotesOptions) {
  const { tree, log, seen, settleBut, maxFileBytes } = options;
  let last = Promise.resolve();
  let waiting = 0;

  async function note(call: TellingCall, replacement: Replacement): Promise<void> {
    const change = toChange(replacement);
    if (!change) return;
    const isOfSource = await tree.isOfSource(change.path);
    if (isOfSource) seen.root = (await add(call, change, replacement)) ?? seen.root;
    if (isOfSource !== undefined) return;
    await settleBut(change.path);
    // What was looked at stays what is known: somebody may have come after what is told.
    if ((await tree.isOfSource(change.path)) !== false) await add(call, change, replacement);
  }

  /** Answers the tree after it. */
  async function add({ id, call }: TellingCall, { path, before, after }: PathChange, replacement: Replacement) {
    if (seen.root === undefined) return undefined;
    const is = await tree.draft(seen.root, { path, after });
    const isAsKnown = isSame(is.found, before);
    const was = isAsKnown ? { root: seen.root, contents: [] } : await tree.draft(seen.root, { path, after: before });
    const stretch = { before: was.root, after: is.root, paths: 1, at: options.now().toISOString() };
    const contents = [...toContents(replacement), ...was.contents, ...is.contents];
    await log.add({ callId: id, call, ...stretch }, { contents });
    options.onCheckpoint();
    return is.root;
  }

  function toContents({ before, after }: Replacement): Content[] {
    return [before, after].flatMap((state) => {
      if (!state?.bytes || state.size > maxFileBytes) return [];
      return [{ hash: state.version, size: state.size, bytes: state.bytes }];
    });
  }

  return {
    add(call: TellingCall, told: readonly Replacement[]): void {
      for (const one of told) {
        waiting += 1;
        last = last
          .then(afterAnswer)
          .then(() => note(call, one))
          .catch(options.onFailure)
          .finally(() => {
            waiting -= 1;
          });
      }
    },
    /** When there is room for more. */
    room: async () => (waiting < maxWaiting ? undefined : last),
    /** When all that was told is noted. */
    settled: () => last,
  };
}

/** The call that told goes on first: its answer leaves before anything else is done. */
function afterAnswer(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Nothing where nothing has changed, or what was there was too large to be hashed. */
function toChange({ path, before, after }: Replacement): PathChange | undefined {
  const [was, is] = [before && toEntry(before), toEntry(after)];
  return isSame(was, is) || (was && !hash.test(was.hash)) ? undefined : { path, before: was, after: is };
}

function toEntry({ mode, size, version }: FileState): TreeEntry {
  return { kind: 'file', mode, size, hash: version };
}
