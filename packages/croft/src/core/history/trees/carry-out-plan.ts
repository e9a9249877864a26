import { AppError } from '@croft/protocol';
import type { TreeReport } from '../ports/history.ts';
import type { HistoryStore } from '../ports/history-store.ts';
import type { PathChange, TreeEntry, TreeHash, TreePath, TreeScope } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';

const maxNamed = 20;

/** Plans changes against the tree as it is now. Called again after ignore rules have changed. */
export type ChangePlanner = (now: TreeHash) => Promise<PathChange[]>;

export interface CarriedOutChanges {
  readonly changes: readonly PathChange[];
  readonly refused: readonly TreePath[];
}

export interface CarryOutPlanOptions {
  readonly tree: WorkingTree;
  /** The paths that the plan covers. */
  readonly scope: TreeScope;
  readonly signal: AbortSignal;
  /** Fetches the contents that the changes need, before anything is changed. */
  prepare(changes: readonly PathChange[]): Promise<void>;
  /** Called with files that are about to be replaced or removed and were not in the tree because git ignored them. */
  onRevealed?(changes: readonly PathChange[]): Promise<void>;
}

/**
 * Carries out a plan, all of it or nothing.
 *
 * A plan may change `.gitignore` files, which decide what belongs to the tree. These go first. Files that the new rules
 * ignore are then outside the plan: they are neither removed because the target tree lacks them, nor a conflict because
 * they exist.
 */
export async function carryOutPlan(
  now: TreeHash,
  plan: ChangePlanner,
  options: CarryOutPlanOptions,
): Promise<CarriedOutChanges> {
  const { tree, scope, signal } = options;
  const changes = await plan(now);
  const rules = scope === 'source' ? changes.filter(({ path }) => isRules(path)) : [];
  if (rules.length === 0 || rules.length === changes.length) return apply(changes, options);
  const first = await apply(rules, options).catch(orNothing);
  // A path that the rest of the plan removes stands where a `.gitignore` has to be.
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
  { now, root, rest }: { readonly now: TreeHash; readonly root: TreeHash; readonly rest: readonly PathChange[] },
): Promise<PathChange[]> {
  const shown = new Set((await tree.diff(now, root)).map(({ path }) => path));
  return rest.filter(({ path, before }) => before !== undefined && shown.has(path));
}

async function apply(
  changes: readonly PathChange[],
  { tree, signal, prepare }: CarryOutPlanOptions,
): Promise<CarriedOutChanges> {
  if (changes.length === 0) return { changes, refused: [] };
  await prepare(changes);
  await mustBeStored(changes, tree.store);
  const { refused } = await tree.apply(changes, { signal });
  const untouched = new Set(refused);
  return { changes: changes.filter(({ path }) => !untouched.has(path)), refused };
}

/** Throws `E_CONFLICT` before anything is changed if a content is not stored, for example because it was too large. */
async function mustBeStored(changes: readonly PathChange[], store: Pick<HistoryStore, 'findMissing'>): Promise<void> {
  const files = changes.filter(({ after }) => after && after.kind !== 'directory');
  const gone = await store.findMissing(files.map(({ after }) => after?.hash ?? ''));
  const paths = files.filter(({ after }) => gone.has(after?.hash ?? '')).map(({ path }) => path);
  if (paths.length === 0) return;
  const shown = paths.slice(0, maxNamed).join(', ');
  const reason = 'their content was not kept: it was too large, or could not be read';
  throw new AppError('E_CONFLICT', `nothing was changed: ${shown} cannot be brought back; ${reason}`, {
    details: { paths },
    hint: 'Nothing can bring these contents back. Undo other calls one by one, or write the files anew.',
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

export function isSameAtPath(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  if (!one || !other) return one === other;
  if (one.kind !== other.kind || one.mode !== other.mode) return false;
  // The entries of a directory have paths of their own.
  return one.kind === 'directory' || one.hash === other.hash;
}

export function toTreeReport({ changes, refused }: CarriedOutChanges, takenBackBy: string): TreeReport {
  const pathsOf = (isOne: (change: PathChange) => boolean) => changes.filter(isOne).map(({ path }) => path);
  return {
    added: pathsOf(({ before }) => !before),
    changed: pathsOf(({ before, after }) => before !== undefined && after !== undefined),
    removed: pathsOf(({ after }) => !after),
    refused,
    takenBackBy: changes.length === 0 ? '' : takenBackBy,
  };
}
