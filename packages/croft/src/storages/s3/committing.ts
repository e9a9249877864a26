import { AppError } from '@croft/protocol';
import type { CommitReport, WorkspaceQuota } from '../../core/storage.ts';
import { type Committed, commitChanges } from './commit.ts';
import { type Conflict, conflictError, nameSome } from './conflicts.ts';
import type { Ground } from './ground.ts';
import type { Holes } from './holes.ts';
import { keepDurable } from './keep-durable.ts';
import { isUnavailable, type Outage } from './outage.ts';

export interface CommitSettings {
  readonly access: 'read-write' | 'read-only';
  readonly quota?: WorkspaceQuota | undefined;
  /** What a commit does that cannot reach the bucket: fail, or answer that it waits. */
  readonly onOutage: 'refuse' | 'queue';
}

const nothing: CommitReport = { committed: [], conflicts: [], queued: [] };

/** Commits for somebody who is told what became of it, or for nobody, and then the next is told. */
export function createCommitting(
  ground: Ground,
  holes: Holes,
  outage: Outage,
  { access, quota = {}, onOutage }: CommitSettings,
) {
  let untold: Conflict[] = [];

  async function commitAll(signal: AbortSignal | undefined): Promise<Committed> {
    // A hole must never be taken for a file.
    await holes.materialize(undefined, signal);
    const result = await commitChanges(ground, { quota, signal });
    if (ground.manifest.waiting().size > 0) ground.manifest.setWaiting(new Map());
    return result;
  }

  async function wait(cause: AppError, signal: AbortSignal): Promise<CommitReport> {
    const queued = await keepDurable(ground, signal);
    if (onOutage === 'queue') return { ...nothing, queued };
    throw waitingError(queued, outage.since, cause);
  }

  return {
    tellLater(conflicts: readonly Conflict[]): void {
      untold.push(...conflicts);
      for (const { path, kept } of conflicts) ground.warn(`${path} was changed on both sides; see ${kept}`);
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
        const conflicts = [...untold, ...result.conflicts];
        untold = [];
        return toReport({ ...result, conflicts });
      } catch (thrown) {
        if (!isUnavailable(thrown)) throw thrown;
        return await wait(thrown, signal);
      }
    },
  };
}

function toReport({ committed, conflicts, failed }: Committed): CommitReport {
  if (conflicts.length > 0) throw conflictError(conflicts, committed);
  const [first] = failed;
  if (!first) return { ...nothing, committed };
  const paths = failed.map(({ path }) => path);
  const { code, message } = first.reason;
  throw new AppError(code, `not stored: ${nameSome(paths)}: ${message}`, {
    details: { paths, committed },
    cause: first.reason,
  });
}

function waitingError(waiting: readonly string[], since: Date | undefined, cause: AppError): AppError {
  const message =
    `the storage of this workspace has not answered since ${since?.toISOString() ?? 'a moment ago'}. What was changed ` +
    `is on disk where it was changed, and will be stored as soon as it answers: ${nameSome(waiting)}`;
  return new AppError('E_STORAGE_UNAVAILABLE', message, { cause, details: { waiting } });
}
