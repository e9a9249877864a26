import type { FileReplacement, FileState } from '../../files/files.ts';
import type { CheckpointLog } from '../logs/checkpoint-log.ts';
import type { CheckpointNote } from '../logs/notes.ts';
import type { HistoryCall } from '../ports/history.ts';
import type { Content } from '../ports/history-store.ts';
import { emptyTreeHash, type PathChange, type TreeEntry, type TreeHash, type TreePath } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import { isSameAtPath } from '../trees/carry-out-plan.ts';
import type { LastCapture } from './attribute-changes.ts';
import { createDropGitignoredCheckpoints } from './drop-gitignored-checkpoints.ts';

interface ReportedCheckpointsOptions {
  readonly tree: Pick<WorkingTree, 'amend' | 'draft' | 'isOfSource' | 'store'>;
  readonly log: Pick<CheckpointLog, 'addAll' | 'drop'>;
  readonly seen: LastCapture;
  /** Whether the whole workspace was read, so that the ignore rules of git are known. */
  hasRead(): boolean;
  /** Captures the tree and attributes all changes except for this path. */
  attributeAllBut(path: TreePath): Promise<void>;
  /** The contents of larger files are not stored. */
  readonly maxFileBytes: number;
  onCheckpoint(): void;
}

/** A change that a call reported, and when. */
export interface ReportedChange {
  /** The id of the call. */
  readonly id: string;
  readonly call: HistoryCall;
  readonly at: string;
  readonly replacement: FileReplacement;
}

const hash = /^[0-9a-f]{64}$/;

/** With this many reported paths, the changes are applied to the last captured tree. */
const maxReported = 256;

/**
 * Writes checkpoints of reported changes, in order. A report says exactly what was at a path before and after, so both
 * trees of a checkpoint contain that path alone, whatever the size of the workspace. The next capture finds the changes
 * of others, and takes reported changes into account.
 */
export function createReportedCheckpoints(options: ReportedCheckpointsOptions) {
  const { tree, log, seen, hasRead, attributeAllBut, onCheckpoint } = options;
  const ignoredCheckpoints = createDropGitignoredCheckpoints(options);
  const toContents = createToContents(options);
  let notes: CheckpointNote[] = [];
  let contents: Content[] = [];

  async function storeAll(): Promise<void> {
    const [made, needed] = [notes, contents];
    [notes, contents] = [[], []];
    ignoredCheckpoints.add(made, await log.addAll(made, needed));
    made.forEach(onCheckpoint);
  }

  async function note(reported: ReportedChange, change: PathChange): Promise<void> {
    if (!hasRead()) return ignoredCheckpoints.checkLater(await draft(reported, change), change.path);
    const isOfSource = seen.root === undefined ? undefined : await tree.isOfSource(change.path);
    if (isOfSource) await draftKnown(reported, change);
    if (isOfSource !== undefined) return;
    await storeAll();
    await attributeAllBut(change.path);
    // The capture stays the last known state: somebody may have changed the path after the report.
    if ((await tree.isOfSource(change.path)) !== false) await draft(reported, change);
  }

  async function draftKnown(reported: ReportedChange, change: PathChange): Promise<void> {
    await draft(reported, change);
    seen.reported.set(change.path, change.after);
    if (seen.reported.size < maxReported || seen.root === undefined) return;
    const changes = [...seen.reported].map(([path, after]) => ({ path, after }));
    seen.root = await tree.amend(seen.root, changes);
    seen.reported.clear();
  }

  async function draft({ id, call, at, replacement }: ReportedChange, { path, before, after }: PathChange) {
    const [was, is] = [await only(path, before), await only(path, after)];
    const made = { callId: id, call, at, before: was.root, after: is.root, paths: 1, isOfPaths: true as const };
    notes.push(made);
    contents.push(...[replacement.before, replacement.after].flatMap(toContents), ...was.contents, ...is.contents);
    return made;
  }

  /** Returns a tree that contains only this entry. */
  async function only(
    path: TreePath,
    entry: TreeEntry | undefined,
  ): Promise<{ root: TreeHash; contents: readonly Content[] }> {
    return entry ? tree.draft(emptyTreeHash, { path, after: entry }) : { root: emptyTreeHash, contents: [] };
  }

  async function noteAll(all: readonly ReportedChange[]): Promise<void> {
    if (hasRead()) await ignoredCheckpoints.dropIgnored();
    for (const reported of all) {
      const change = toChange(reported.replacement);
      if (change) await note(reported, change);
    }
    await storeAll();
  }

  return (all: readonly ReportedChange[]): Promise<void> =>
    noteAll(all).catch((thrown) => {
      // The reported changes may not be stored, so the next capture has to find them.
      [notes, contents, seen.root] = [[], [], undefined];
      seen.reported.clear();
      throw thrown;
    });
}

function createToContents({
  tree: { store },
  maxFileBytes,
}: Pick<ReportedCheckpointsOptions, 'tree' | 'maxFileBytes'>) {
  return (state: FileState | undefined): Content[] => {
    if (!state?.bytes || state.size > maxFileBytes || store.quota?.reserve(state.size) === false) return [];
    return [{ hash: state.version, size: state.size, bytes: state.bytes }];
  };
}

/** Returns `undefined` if nothing changed, or if the old file was too large to be hashed. */
function toChange({ path, before, after }: FileReplacement): PathChange | undefined {
  const [was, is] = [before && toEntry(before), toEntry(after)];
  return isSameAtPath(was, is) || (was && !hash.test(was.hash)) ? undefined : { path, before: was, after: is };
}

function toEntry({ mode, size, version }: FileState): TreeEntry {
  return { kind: 'file', mode, size, hash: version };
}
