import { AppError } from '@croft/protocol';
import type { CommitReport, WorkspaceQuota } from '../../../../core/storage/stored-mount.ts';
import type { MountContext } from '../working-copy/mount-context.ts';
import type { Placeholders } from '../working-copy/placeholders.ts';
import { type CommitResult, commitChanges } from './commit-changes.ts';
import { type Conflict, conflictError, nameSome } from './conflicts.ts';
import { fsyncUncommittedFiles } from './fsync-uncommitted-files.ts';
import { isUnavailable, type OutageRetry } from './outage-retry.ts';

export interface CommitSettings {
  readonly access: 'read-write' | 'read-only';
  readonly quota?: WorkspaceQuota | undefined;
  /** Whether a commit that cannot reach the bucket fails, or succeeds and reports the paths as waiting. */
  readonly onOutage: 'refuse' | 'queue';
}

const nothing: CommitReport = { committed: [], conflicts: [], queued: [] };

/**
 * Runs commits. `loudly` reports the result to the caller; `quietly` has no caller, so its conflicts are reported by
 * the next `loudly`.
 */
export function createCommitter(
  context: MountContext,
  placeholders: Placeholders,
  outage: OutageRetry,
  { access, quota = {}, onOutage }: CommitSettings,
) {
  let unreported: Conflict[] = [];

  async function commitAll(signal: AbortSignal | undefined): Promise<CommitResult> {
    // A placeholder must never be committed as if it were the file.
    await placeholders.materialize(undefined, signal);
    const result = await commitChanges(context, { quota, signal });
    if (context.manifest.waiting().size > 0) context.manifest.setWaiting(new Map());
    return result;
  }

  async function keepWaiting(cause: AppError, signal: AbortSignal): Promise<CommitReport> {
    const queued = await fsyncUncommittedFiles(context, signal);
    if (onOutage === 'queue') return { ...nothing, queued };
    throw waitingError(queued, outage.since, cause);
  }

  return {
    tellLater(conflicts: readonly Conflict[]): void {
      unreported.push(...conflicts);
      for (const { path, kept } of conflicts) context.warn(`${path} was changed on both sides; see ${kept}`);
    },
    async quietly(signal: AbortSignal | undefined): Promise<void> {
      if (access === 'read-only') return;
      const { conflicts } = await outage.watching(() => commitAll(signal));
      this.tellLater(conflicts);
    },
    async loudly(signal: AbortSignal): Promise<CommitReport> {
      if (access === 'read-only') return nothing;
      try {
        const result = await outage.watching(() => commitAll(signal));
        const conflicts = [...unreported, ...result.conflicts];
        unreported = [];
        return toReport({ ...result, conflicts });
      } catch (thrown) {
        if (!isUnavailable(thrown)) throw thrown;
        return await keepWaiting(thrown, signal);
      }
    },
  };
}

function toReport({ committed, conflicts, failed }: CommitResult): CommitReport {
  if (conflicts.length > 0) throw conflictError(conflicts, committed);
  const [first] = failed;
  if (!first) return { ...nothing, committed };
  const paths = failed.map(({ path }) => path);
  const { code, message, ownHint: hint } = first.reason;
  throw new AppError(code, `not stored: ${nameSome(paths)}: ${message}`, {
    details: { paths, committed },
    cause: first.reason,
    hint,
  });
}

function waitingError(waiting: readonly string[], since: Date | undefined, cause: AppError): AppError {
  const message =
    `the storage of this workspace has not answered since ${since?.toISOString() ?? 'a moment ago'}. The changes are ` +
    `on the local disk, and will be stored as soon as it answers: ${nameSome(waiting)}`;
  const hint = 'Do not repeat the call: it ran, and its changes are stored when the storage answers.';
  return new AppError('E_STORAGE_UNAVAILABLE', message, { cause, details: { waiting }, hint });
}
