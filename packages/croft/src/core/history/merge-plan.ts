import { sha256 } from '../../lib/sha256.ts';
import type { MergeConflict, OnConflict } from './forks.ts';
import { mergeText, readAsText } from './merge-text.ts';
import type { Content, HistoryStore } from './store.ts';
import type { PathChange, Root, TreeEntry, TreePath } from './tree.ts';
import { isSame } from './tree-change.ts';
import type { WorkingTree } from './working-tree.ts';

export interface MergeSides {
  /** What the fork started as. */
  readonly base: Root;
  readonly theirs: Root;
  /** The workspace that is merged into. */
  readonly ours: Root;
}

export interface MergePlan {
  readonly changes: readonly PathChange[];
  /** Those that are left, for `markers` also those that stand in a file now. */
  readonly conflicts: readonly MergeConflict[];
  /** Files in which both sides' changes are. */
  readonly merged: readonly TreePath[];
  readonly contents: readonly Content[];
  /** Whether nothing of it may be done. */
  readonly isRefused: boolean;
}

interface Three {
  readonly path: TreePath;
  readonly base: TreeEntry | undefined;
  readonly ours: TreeEntry | undefined;
  readonly theirs: TreeEntry | undefined;
}

/** What comes of one path. */
interface Outcome {
  readonly change?: PathChange | undefined;
  readonly conflict?: MergeConflict | undefined;
  readonly content?: Content | undefined;
  readonly isRefused?: boolean;
}

export interface PlanOptions {
  readonly tree: Pick<WorkingTree, 'diff' | 'entry'>;
  readonly store: Pick<HistoryStore, 'read'>;
  readonly onConflict: OnConflict;
  /** Of the fork, in markers. */
  readonly name: string;
  readonly signal: AbortSignal;
}

/** Three ways, path by path: what only one side changed is taken, what both changed alike is one change. */
export async function planMerge({ base, theirs, ours }: MergeSides, options: PlanOptions): Promise<MergePlan> {
  const outcomes: Outcome[] = [];
  for (const change of await options.tree.diff(base, theirs)) {
    options.signal.throwIfAborted();
    const mine = await options.tree.entry(ours, change.path);
    const three = { path: change.path, base: change.before, theirs: change.after, ours: mine };
    outcomes.push((await inTheWay(three, ours, options)) ?? (await decide(three, options)));
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

async function decide(three: Three, options: PlanOptions): Promise<Outcome> {
  const { path, base, ours, theirs } = three;
  if (isSame(ours, theirs)) return {};
  if (isSame(ours, base)) return { change: { path, before: ours, after: theirs } };
  // A directory is what is in it: of one that holds nothing there is nothing to bring together.
  if (base?.kind === 'directory' || theirs?.kind === 'directory')
    return ours?.kind === 'directory' ? {} : orRefuse(three, options);
  return (await mergeContents(three, options)) ?? orRefuse(three, options);
}

/** What is to be put below something that is no directory here. */
async function inTheWay(
  { path, theirs }: Three,
  ours: Root,
  { tree, onConflict }: PlanOptions,
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

function orRefuse(three: Three, { onConflict }: PlanOptions): Outcome {
  const { path, ours, theirs } = three;
  const conflict = { path, reason: reasonOf(three) };
  if (onConflict === 'ours') return { conflict };
  // Whatever stands below a directory is not thrown away for a file.
  const canReplace = ours?.kind !== 'directory' && theirs?.kind !== 'directory';
  if (onConflict === 'theirs' && canReplace) return { conflict, change: { path, before: ours, after: theirs } };
  return { conflict, isRefused: true };
}

function reasonOf({ ours, theirs }: Three): MergeConflict['reason'] {
  if (!theirs) return 'changed here, removed there';
  if (!ours) return 'removed here, changed there';
  return ours.kind === theirs.kind ? 'both changed' : 'kinds differ';
}

async function mergeContents(three: Three, { store, name, onConflict }: PlanOptions): Promise<Outcome | undefined> {
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
