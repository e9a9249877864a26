import { AppError } from '@croft/protocol';
import type { TreeReport } from './history.ts';
import type { HistoryStore } from './store.ts';
import type { PathChange, Root, TreeEntry, TreePath, TreeScope } from './tree.ts';
import type { WorkingTree } from './working-tree.ts';

const maxNamed = 20;

/** What is to be done, seen from the tree as it is now. Asked again after what git ignores has changed. */
export type Plan = (now: Root) => Promise<PathChange[]>;

export interface Changed {
  readonly changes: readonly PathChange[];
  readonly refused: readonly TreePath[];
}

export interface CarryOutOptions {
  readonly tree: WorkingTree;
  /** Which paths the plan is about. */
  readonly scope: TreeScope;
  readonly signal: AbortSignal;
  /** Brings what is needed for it, before anything is changed. */
  prepare(changes: readonly PathChange[]): Promise<void>;
  /** Told of what is about to be replaced or removed and was not in the tree, because it was ignored. */
  onRevealed?(changes: readonly PathChange[]): Promise<void>;
}

/**
 * Carries out a plan, all of it or nothing.
 *
 * What is ignored is said by files that may be among those to be changed. They go first: what the rules of then leave out
 * is then nobody's business, and neither removed because it was not there nor in the way because it is.
 */
export async function carryOut(now: Root, plan: Plan, options: CarryOutOptions): Promise<Changed> {
  const { tree, scope, signal } = options;
  const changes = await plan(now);
  const rules = scope === 'source' ? changes.filter(({ path }) => isRules(path)) : [];
  if (rules.length === 0 || rules.length === changes.length) return apply(changes, options);
  const first = await apply(rules, options).catch(orNothing);
  // Something that goes later stands where the rules have to be.
  if (!first) return apply(changes, options);
  try {
    const { root } = await tree.capture({ scope, signal });
    const refused = new Set(first.refused);
    const rest = (await plan(root)).filter(({ path }) => !refused.has(path));
    await options.onRevealed?.(await findRevealed(tree, { now, root, rest }));
    const second = await apply(rest, options);
    return { changes: [...first.changes, ...second.changes], refused: [...first.refused, ...second.refused] };
  } catch (thrown) {
    await tree.apply(first.changes.map(inverted));
    throw thrown;
  }
}

async function findRevealed(
  tree: WorkingTree,
  { now, root, rest }: { readonly now: Root; readonly root: Root; readonly rest: readonly PathChange[] },
): Promise<PathChange[]> {
  const shown = new Set((await tree.diff(now, root)).map(({ path }) => path));
  return rest.filter(({ path, before }) => before !== undefined && shown.has(path));
}

async function apply(changes: readonly PathChange[], { tree, signal, prepare }: CarryOutOptions): Promise<Changed> {
  if (changes.length === 0) return { changes, refused: [] };
  await prepare(changes);
  await mustBeKept(changes, tree.store);
  const { refused } = await tree.apply(changes, { signal });
  const untouched = new Set(refused);
  return { changes: changes.filter(({ path }) => !untouched.has(path)), refused };
}

/** What was too large to be kept by itself cannot be brought back, and is not found out half-way. */
async function mustBeKept(changes: readonly PathChange[], store: Pick<HistoryStore, 'lacks'>): Promise<void> {
  const files = changes.filter(({ after }) => after && after.kind !== 'directory');
  const gone = await store.lacks(files.map(({ after }) => after?.hash ?? ''));
  const paths = files.filter(({ after }) => gone.has(after?.hash ?? '')).map(({ path }) => path);
  if (paths.length === 0) return;
  const shown = paths.slice(0, maxNamed).join(', ');
  const reason = 'their content was not kept: it was too large, or could not be read';
  throw new AppError('E_CONFLICT', `nothing was changed: ${shown} cannot be brought back; ${reason}`, {
    details: { paths },
  });
}

function orNothing(thrown: unknown): undefined {
  if (isConflict(thrown)) return undefined;
  throw thrown;
}

export function isConflict(thrown: unknown): thrown is AppError {
  return AppError.is(thrown) && thrown.code === 'E_CONFLICT';
}

function isRules(path: TreePath): boolean {
  return path === '.gitignore' || path.endsWith('/.gitignore');
}

function inverted({ path, before, after }: PathChange): PathChange {
  return { path, before: after, after: before };
}

export function isSame(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  if (!one || !other) return one === other;
  if (one.kind !== other.kind || one.mode !== other.mode) return false;
  // What a directory holds has paths of its own.
  return one.kind === 'directory' || one.hash === other.hash;
}

export function toReport({ changes, refused }: Changed, takenBackBy: string): TreeReport {
  const pathsOf = (isOne: (change: PathChange) => boolean) => changes.filter(isOne).map(({ path }) => path);
  return {
    added: pathsOf(({ before }) => !before),
    changed: pathsOf(({ before, after }) => before !== undefined && after !== undefined),
    removed: pathsOf(({ after }) => !after),
    refused,
    takenBackBy: changes.length === 0 ? '' : takenBackBy,
  };
}
