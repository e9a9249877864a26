import { randomBytes } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { PathChange, TreeHash, TreePath } from '../../../../core/history/ports/tree.ts';
import { checkQuota, isOverQuota } from '../../../../core/quota/check-quota.ts';
import { revertedCallError } from '../../../../core/quota/reverted-call-error.ts';
import type { WorkspaceQuota } from '../../../../core/storage/stored-mount.ts';
import { inParallel } from '../../../../lib/concurrency/in-parallel.ts';
import { isMarker } from '../../layout/object-keys.ts';
import { isSameEntry } from '../../layout/object-metadata.ts';
import { findLocalChanges } from '../working-copy/local-changes.ts';
import { type MountContext, requestsAtATime } from '../working-copy/mount-context.ts';
import { publishCommit, type RecordedObject } from '../working-copy/publish-commit.ts';
import { type Conflict, nameSome } from './conflicts.ts';
import { finishInterruptedCommit } from './finish-interrupted-commit.ts';
import { keepBothVersions } from './keep-both-versions.ts';
import { type OperationOutcome, performObjectOperation } from './perform-object-operation.ts';
import { type ObjectOperation, planCommit } from './plan-commit.ts';
import { revertToBucket } from './revert-to-bucket.ts';
import { clearTombstones } from './tombstones.ts';

export interface CommitResult {
  readonly committed: readonly TreePath[];
  readonly conflicts: readonly Conflict[];
  /** Paths that the bucket refused, and why. */
  readonly failed: readonly { readonly path: TreePath; readonly reason: AppError }[];
}

interface Performed {
  readonly done: readonly Done[];
  /** A time before the first tombstone was put (`performance.now()`). */
  readonly buriedAt: number;
}

interface Done {
  readonly operation: ObjectOperation;
  readonly outcome: OperationOutcome;
}

/**
 * A conflict copy made in one round is committed in the next. A program that keeps changing files must wait for the
 * next commit.
 */
const maxRounds = 3;

/** Commits the local changes to the bucket. */
export async function commitChanges(
  context: MountContext,
  options: { quota: WorkspaceQuota; signal?: AbortSignal | undefined },
): Promise<CommitResult> {
  await finishInterruptedCommit(context, options.signal);
  const committed = new Set<TreePath>();
  const conflicts: Conflict[] = [];
  const failed = new Map<TreePath, AppError>();
  for (let round = 0; round < maxRounds; round++) {
    const result = await commitOnce(context, options);
    for (const path of result.committed) committed.add(path);
    for (const { path, reason } of result.failed) failed.set(path, reason);
    conflicts.push(...result.conflicts);
    if (!result.isUnfinished) break;
  }
  return { committed: [...committed], conflicts, failed: [...failed].map(([path, reason]) => ({ path, reason })) };
}

async function commitOnce(
  context: MountContext,
  { quota, signal }: { quota: WorkspaceQuota; signal?: AbortSignal | undefined },
): Promise<CommitResult & { isUnfinished: boolean }> {
  const { root, changes, missed } = await findLocalChanges(context, signal);
  const { manifest, tree } = context;
  const entryAt = (path: TreePath) => tree.entry(root, path);
  const { operations, tooLong } = await planCommit(changes, { known: manifest.get, entryAt, missed });
  const failed = tooLong.map((path) => ({ path, reason: nameTooLong(path) }));
  await mustFitQuota(context, operations, { quota, signal });
  if (operations.length === 0) {
    if (failed.length === 0 && !isIncomplete(changes, missed)) manifest.setState({ base: root });
    return { committed: [], conflicts: [], failed, isUnfinished: false };
  }
  const id = randomBytes(12).toString('hex');
  manifest.change(() => manifest.setIntent({ id, keys: operations.map(({ key }) => key) }));
  const performed = await performAll(context, operations, { id, failed, signal });
  const isWhole = failed.length === 0 && !isIncomplete(changes, missed) && performed.done.every(isAsPlanned);
  await concludeCommit(context, { id, ...performed, base: isWhole ? root : undefined }, signal);
  return { ...(await reportOutcomes(context, performed.done, signal)), failed };
}

async function performAll(
  context: MountContext,
  operations: readonly ObjectOperation[],
  {
    id,
    failed,
    signal,
  }: { id: string; failed: { path: TreePath; reason: AppError }[]; signal?: AbortSignal | undefined },
): Promise<Performed> {
  const done: Done[] = [];
  const one = async (operation: ObjectOperation) => {
    signal?.throwIfAborted();
    try {
      done.push({ operation, outcome: await performObjectOperation(context, operation, id, signal) });
    } catch (thrown) {
      failed.push({ path: operation.path, reason: ownFailure(thrown) });
    }
    context.progress('commit', done.length, operations.length);
  };
  // Puts come before removals: a file that moved is in the bucket twice for a moment, never nowhere.
  const [puts, removals] = [operations.filter(({ entry }) => entry), operations.filter(({ entry }) => !entry)];
  await inParallel(puts, requestsAtATime, one);
  const buriedAt = performance.now();
  await inParallel(removals, requestsAtATime, one);
  return { done, buriedAt };
}

async function concludeCommit(
  context: MountContext,
  { id, done, buriedAt, base }: { id: string; base: TreeHash | undefined } & Performed,
  signal?: AbortSignal,
): Promise<void> {
  const recorded = done.flatMap(({ operation, outcome }) => toRecorded(operation.key, outcome, id));
  await publishCommit(context, { id, settled: recorded, base }, signal);
  // The commit is complete even if this fails: remaining tombstones are in the manifest and are cleared before the next
  // commit.
  await clearTombstones(context, context.manifest.tombstones(), { putAt: buriedAt, signal }).catch(() => {});
}

function toRecorded(key: string, outcome: OperationOutcome, id: string): RecordedObject[] {
  if (outcome.type === 'put') return [{ key, known: outcome.known }];
  if (outcome.type === 'removed') return [{ key, buriedBy: outcome.isOurTombstone ? id : undefined }];
  return [];
}

async function reportOutcomes(context: MountContext, done: readonly Done[], signal?: AbortSignal) {
  const conflicts: Conflict[] = [];
  const committed: TreePath[] = [];
  for (const { operation, outcome } of done) {
    const { path } = operation;
    const conflict = outcome.type === 'clash' ? await keepBothVersions(context, operation, signal) : undefined;
    if (conflict) conflicts.push(conflict);
    else if (outcome.type === 'put' && outcome.cameBack && !isMarker(operation.key))
      conflicts.push({ path, kept: path, reason: 'changed here, removed there' });
    if (outcome.type === 'put' || outcome.type === 'removed') committed.push(path);
  }
  return { committed, conflicts, isUnfinished: done.some(({ outcome }) => outcome.type === 'clash') };
}

/** Whether paths are missing from the captured tree that may still exist on the disk. */
function isIncomplete(changes: readonly PathChange[], missed: ReadonlySet<TreePath>): boolean {
  return missed.size > 0 && changes.some(({ after }) => !after);
}

function isAsPlanned({ operation, outcome }: Done): boolean {
  if (outcome.type === 'put') return isSameEntry(operation.entry, outcome.known);
  return outcome.type === 'removed';
}

/**
 * Refuses a commit over the quota. The bucket does not get the changes, so they are reverted in the working tree too.
 */
async function mustFitQuota(
  context: MountContext,
  operations: readonly ObjectOperation[],
  { quota, signal }: { quota: WorkspaceQuota; signal?: AbortSignal | undefined },
): Promise<void> {
  try {
    checkCommitQuota(context, operations, quota);
  } catch (thrown) {
    const paths = await revertToBucket(context, signal);
    if (paths.length > 0) context.warn(`reverted, because it exceeded the quota: ${nameSome(paths)}`);
    throw revertedCallError(AppError.from(thrown), paths, isOverQuota(await context.tree.totals(), quota));
  }
}

function checkCommitQuota(
  { manifest }: MountContext,
  operations: readonly ObjectOperation[],
  quota: WorkspaceQuota,
): void {
  if (quota.bytes === undefined && quota.files === undefined) return;
  const before = manifest.totals();
  const files = operations.filter(({ key }) => !isMarker(key));
  const grown = files.reduce((total, { entry, known }) => total + (entry?.size ?? 0) - (known?.size ?? 0), 0);
  const more = files.reduce((total, { entry, known }) => total + (entry ? 1 : 0) - (known ? 1 : 0), 0);
  checkQuota(before, { bytes: before.bytes + grown, files: before.files + more }, quota);
}

/**
 * Converts an error that concerns one file only, so that the other files are still stored. Rethrows any other error.
 */
function ownFailure(thrown: unknown): AppError {
  if (AppError.is(thrown) && thrown.code === 'E_STORAGE_FAILED') return thrown;
  if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'EACCES' || thrown.code === 'EPERM'))
    return new AppError('E_PERMISSION_DENIED', 'it cannot be read', { cause: thrown });
  throw thrown;
}

function nameTooLong(path: TreePath): AppError {
  return new AppError('E_NAME_TOO_LONG', `the path is too long to be stored: ${path.slice(0, 200)}…`);
}
