import { sha256 } from '../../../lib/crypto/sha256.ts';
import type { MergeConflict, OnConflict } from '../ports/forks.ts';
import type { Content, HistoryStore } from '../ports/history-store.ts';
import type { PathChange, TreeEntry, TreeHash, TreePath } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import { isSameAtPath } from '../trees/carry-out-plan.ts';
import { mergeText, readAsText } from './merge-text.ts';

interface MergeSides {
  /** The tree that the fork started as. */
  readonly base: TreeHash;
  readonly theirs: TreeHash;
  /** The tree of the workspace that is merged into. */
  readonly ours: TreeHash;
}

export interface MergePlan {
  readonly changes: readonly PathChange[];
  /** Unresolved conflicts. With `markers`, also conflicts that are now marked in a file. */
  readonly conflicts: readonly MergeConflict[];
  /** Files that contain changes of both sides. */
  readonly merged: readonly TreePath[];
  readonly contents: readonly Content[];
  /** Whether nothing of the plan may be applied. */
  readonly isRefused: boolean;
}

interface ThreeEntries {
  readonly path: TreePath;
  readonly base: TreeEntry | undefined;
  readonly ours: TreeEntry | undefined;
  readonly theirs: TreeEntry | undefined;
}

/** The result for one path. */
interface Outcome {
  readonly change?: PathChange | undefined;
  readonly conflict?: MergeConflict | undefined;
  readonly content?: Content | undefined;
  readonly isRefused?: boolean;
}

interface PlanMergeOptions {
  readonly tree: Pick<WorkingTree, 'diff' | 'entry'>;
  readonly store: Pick<HistoryStore, 'read'>;
  readonly onConflict: OnConflict;
  /** The name of the fork, for conflict markers. */
  readonly name: string;
  readonly signal: AbortSignal;
}

/** Plans a three-way merge by path: takes what only one side changed, and equal changes of both sides once. */
export async function planMerge({ base, theirs, ours }: MergeSides, options: PlanMergeOptions): Promise<MergePlan> {
  const outcomes: Outcome[] = [];
  for (const change of await options.tree.diff(base, theirs)) {
    options.signal.throwIfAborted();
    const mine = await options.tree.entry(ours, change.path);
    const three = { path: change.path, base: change.before, theirs: change.after, ours: mine };
    outcomes.push((await findBlocked(three, ours, options)) ?? (await decide(three, options)));
  }
  const only = <T>(pick: (outcome: Outcome) => T | undefined): T[] =>
    outcomes.flatMap((outcome) => pick(outcome) ?? []) as T[];
  return {
    changes: only(({ change }) => change),
    conflicts: only(({ conflict }) => conflict),
    merged: only(({ change, content }) => (content ? change?.path : undefined)),
    contents: only(({ content }) => content),
    isRefused: outcomes.some((outcome) => outcome.isRefused),
  };
}

async function decide(three: ThreeEntries, options: PlanMergeOptions): Promise<Outcome> {
  const { path, base, ours, theirs } = three;
  if (isSameAtPath(ours, theirs)) return {};
  if (isSameAtPath(ours, base)) return { change: { path, before: ours, after: theirs } };
  // A directory consists of its entries, which have paths of their own. An empty one has nothing to merge.
  if (base?.kind === 'directory' || theirs?.kind === 'directory')
    return ours?.kind === 'directory' ? {} : orRefuse(three, options);
  return (await mergeContents(three, options)) ?? orRefuse(three, options);
}

/** Returns a conflict if the path would be below something that is no directory in this workspace. */
async function findBlocked(
  { path, theirs }: ThreeEntries,
  ours: TreeHash,
  { tree, onConflict }: PlanMergeOptions,
): Promise<Outcome | undefined> {
  if (!theirs) return undefined;
  const names = path.split('/');
  for (let depth = 1; depth < names.length; depth += 1) {
    const above = await tree.entry(ours, names.slice(0, depth).join('/'));
    if (!above) return undefined;
    if (above.kind === 'directory') continue;
    return { conflict: { path, reason: 'kinds differ' }, isRefused: onConflict !== 'ours' };
  }
  return undefined;
}

function orRefuse(three: ThreeEntries, { onConflict }: PlanMergeOptions): Outcome {
  const { path, ours, theirs } = three;
  const conflict = { path, reason: reasonOf(three) };
  if (onConflict === 'ours') return { conflict };
  // A file does not replace a directory: everything below the directory would be lost.
  const canReplace = ours?.kind !== 'directory' && theirs?.kind !== 'directory';
  if (onConflict === 'theirs' && canReplace) return { conflict, change: { path, before: ours, after: theirs } };
  return { conflict, isRefused: true };
}

function reasonOf({ ours, theirs }: ThreeEntries): MergeConflict['reason'] {
  if (!theirs) return 'changed here, removed there';
  if (!ours) return 'removed here, changed there';
  return ours.kind === theirs.kind ? 'both changed' : 'kinds differ';
}

async function mergeContents(
  three: ThreeEntries,
  { store, name, onConflict }: PlanMergeOptions,
): Promise<Outcome | undefined> {
  const { path, base, ours, theirs } = three;
  if (ours?.kind !== 'file' || theirs?.kind !== 'file' || (base && base.kind !== 'file')) return undefined;
  const mode = theirs.mode === base?.mode ? ours.mode : theirs.mode;
  if (ours.hash === theirs.hash) return { change: { path, before: ours, after: { ...ours, mode } } };
  const texts = await readTexts({ base, ours, theirs }, store);
  const merged = texts && mergeText(texts, name);
  if (!merged || (merged.hasConflicts && onConflict !== 'markers')) return undefined;
  const bytes = Buffer.from(merged.text);
  const content = { hash: sha256(bytes), size: bytes.length, bytes };
  const after: TreeEntry = { kind: 'file', mode, size: content.size, hash: content.hash };
  const conflict = merged.hasConflicts ? { path, reason: 'both changed' as const } : undefined;
  return { change: { path, before: ours, after }, content, conflict };
}

async function readTexts(
  { base, ours, theirs }: { base: TreeEntry | undefined; ours: TreeEntry; theirs: TreeEntry },
  store: Pick<HistoryStore, 'read'>,
) {
  const read = async (entry: TreeEntry | undefined) => {
    if (!entry) return '';
    return entry.size > 1024 * 1024 ? undefined : readAsText(await store.read(entry.hash));
  };
  const texts = { base: await read(base), ours: await read(ours), theirs: await read(theirs) };
  const { base: old, ours: mine, theirs: yours } = texts;
  if (old === undefined || mine === undefined || yours === undefined) return undefined;
  return { base: old, ours: mine, theirs: yours };
}
