import { randomBytes } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { PathChange, Root, TreePath } from '../../core/history/tree.ts';
import { checkQuota } from '../../core/quota.ts';
import type { WorkspaceQuota } from '../../core/storage.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { keepBoth } from './clashes.ts';
import type { Conflict } from './conflicts.ts';
import { type Ground, requestsAtATime } from './ground.ts';
import { isMarker } from './keys.ts';
import { findLocalChanges } from './local-changes.ts';
import { isSameEntry } from './object-entries.ts';
import { type Outcome, perform } from './perform.ts';
import { type Operation, planCommit } from './plan.ts';
import { recover } from './recover.ts';
import { type Settled, settle } from './settle.ts';
import { clearTombstones } from './tombstones.ts';

export interface Committed {
  readonly committed: readonly TreePath[];
  readonly conflicts: readonly Conflict[];
  /** What the bucket would not take, and why. */
  readonly failed: readonly { readonly path: TreePath; readonly reason: AppError }[];
}

interface Performed {
  readonly done: readonly Done[];
  /** When the first tombstone was put, at the earliest. */
  readonly buriedAt: number;
}

interface Done {
  readonly operation: Operation;
  readonly outcome: Outcome;
}

/** What is kept beside a file in one round is committed in the next; who goes on changing things meanwhile waits. */
const maxRounds = 3;

/** Brings what changed here to the bucket. */
export async function commitChanges(
  ground: Ground,
  options: { quota: WorkspaceQuota; signal?: AbortSignal | undefined },
): Promise<Committed> {
  await recover(ground, options.signal);
  const committed = new Set<TreePath>();
  const conflicts: Conflict[] = [];
  const failed = new Map<TreePath, AppError>();
  for (let round = 0; round < maxRounds; round++) {
    const result = await commitOnce(ground, options);
    for (const path of result.committed) committed.add(path);
    for (const { path, reason } of result.failed) failed.set(path, reason);
    conflicts.push(...result.conflicts);
    if (!result.isUnfinished) break;
  }
  return { committed: [...committed], conflicts, failed: [...failed].map(([path, reason]) => ({ path, reason })) };
}

async function commitOnce(
  ground: Ground,
  { quota, signal }: { quota: WorkspaceQuota; signal?: AbortSignal | undefined },
): Promise<Committed & { isUnfinished: boolean }> {
  const { root, changes, missed } = await findLocalChanges(ground, signal);
  const { manifest, tree } = ground;
  const entryAt = (path: TreePath) => tree.entry(root, path);
  const { operations, tooLong } = await planCommit(changes, { known: manifest.get, entryAt, missed });
  const failed = tooLong.map((path) => ({ path, reason: nameTooLong(path) }));
  checkRoom(ground, operations, quota);
  if (operations.length === 0) {
    if (failed.length === 0 && !isIncomplete(changes, missed)) manifest.setState({ base: root });
    return { committed: [], conflicts: [], failed, isUnfinished: false };
  }
  const id = randomBytes(12).toString('hex');
  manifest.change(() => manifest.setIntent({ id, keys: operations.map(({ key }) => key) }));
  const performed = await performAll(ground, operations, { id, failed, signal });
  const isWhole = failed.length === 0 && !isIncomplete(changes, missed) && performed.done.every(isAsPlanned);
  await conclude(ground, { id, ...performed, base: isWhole ? root : undefined }, signal);
  return { ...(await report(ground, performed.done, signal)), failed };
}

async function performAll(
  ground: Ground,
  operations: readonly Operation[],
  {
    id,
    failed,
    signal,
  }: { id: string; failed: { path: TreePath; reason: AppError }[]; signal?: AbortSignal | undefined },
): Promise<Performed> {
  const done: Done[] = [];
  const one = async (operation: Operation) => {
    signal?.throwIfAborted();
    try {
      done.push({ operation, outcome: await perform(ground, operation, id, signal) });
    } catch (thrown) {
      failed.push({ path: operation.path, reason: ownFailure(thrown) });
    }
    ground.progress('commit', done.length, operations.length);
  };
  // What is put comes first: a file that moved is in the bucket at every moment, twice rather than nowhere.
  const [puts, removals] = [operations.filter(({ entry }) => entry), operations.filter(({ entry }) => !entry)];
  await inParallel(puts, requestsAtATime, one);
  const buriedAt = performance.now();
  await inParallel(removals, requestsAtATime, one);
  return { done, buriedAt };
}

async function conclude(
  ground: Ground,
  { id, done, buriedAt, base }: { id: string; base: Root | undefined } & Performed,
  signal?: AbortSignal,
): Promise<void> {
  const settled = done.flatMap(({ operation, outcome }) => toSettled(operation.key, outcome, id));
  await settle(ground, { id, settled, base }, signal);
  // The commit is made, whatever becomes of this: those that stay are known, and go before the next.
  await clearTombstones(ground, ground.manifest.tombstones(), { putAt: buriedAt, signal }).catch(() => {});
}

function toSettled(key: string, outcome: Outcome, id: string): Settled[] {
  if (outcome.type === 'put') return [{ key, known: outcome.known }];
  if (outcome.type === 'removed') return [{ key, buriedBy: outcome.isOurTombstone ? id : undefined }];
  return [];
}

async function report(ground: Ground, done: readonly Done[], signal?: AbortSignal) {
  const conflicts: Conflict[] = [];
  const committed: TreePath[] = [];
  for (const { operation, outcome } of done) {
    const { path } = operation;
    const conflict = outcome.type === 'clash' ? await keepBoth(ground, operation, signal) : undefined;
    if (conflict) conflicts.push(conflict);
    else if (outcome.type === 'put' && outcome.cameBack && !isMarker(operation.key))
      conflicts.push({ path, kept: path, reason: 'changed here, removed there' });
    if (outcome.type === 'put' || outcome.type === 'removed') committed.push(path);
  }
  return { committed, conflicts, isUnfinished: done.some(({ outcome }) => outcome.type === 'clash') };
}

/** Whether the tree lacks something that is not known to be gone. */
function isIncomplete(changes: readonly PathChange[], missed: ReadonlySet<TreePath>): boolean {
  return missed.size > 0 && changes.some(({ after }) => !after);
}

function isAsPlanned({ operation, outcome }: Done): boolean {
  if (outcome.type === 'put') return isSameEntry(operation.entry, outcome.known);
  return outcome.type === 'removed';
}

function checkRoom({ manifest }: Ground, operations: readonly Operation[], quota: WorkspaceQuota): void {
  if (quota.bytes === undefined && quota.files === undefined) return;
  const before = manifest.totals();
  const files = operations.filter(({ key }) => !isMarker(key));
  const grown = files.reduce((total, { entry, known }) => total + (entry?.size ?? 0) - (known?.size ?? 0), 0);
  const more = files.reduce((total, { entry, known }) => total + (entry ? 1 : 0) - (known ? 1 : 0), 0);
  checkQuota(before, { bytes: before.bytes + grown, files: before.files + more }, quota);
}

/** Of one file alone, so that it keeps none of the others from being stored. Throws what is not. */
function ownFailure(thrown: unknown): AppError {
  if (AppError.is(thrown) && thrown.code === 'E_STORAGE_FAILED') return thrown;
  if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'EACCES' || thrown.code === 'EPERM'))
    return new AppError('E_PERMISSION_DENIED', 'it cannot be read', { cause: thrown });
  throw thrown;
}

function nameTooLong(path: TreePath): AppError {
  return new AppError('E_NAME_TOO_LONG', `the path is too long to be stored: ${path.slice(0, 200)}…`);
}
