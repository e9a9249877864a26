import { createKeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import { errorMessage } from '../../lib/error-message.ts';
import type { Emit } from '../events/emitter.ts';
import type { Workspace, WorkspaceCall } from '../workspace/workspace.ts';
import type { PathReason, SkillsSource } from './skills-source.ts';
import { type SkillsSyncReport, syncSkills } from './sync-skills.ts';

interface SkillsSyncerOptions {
  readonly source: SkillsSource;
  readonly emit: Emit;
  onWarning(message: string): void;
}

/** The parts of a workspace that a sync uses. */
type SkillsWorkspace = Pick<Workspace, 'id' | 'name' | 'files' | 'wrapCall'>;

export type SkillsSyncer = ReturnType<typeof createSkillsSyncer>;

/** Longest time that a call waits for skills. */
const maxSyncMs = 60_000;
const retryMs = 30_000;
/** Most paths named in an event or a warning. */
const maxNamed = 20;

/** Syncs the server's skills and agents to the workspaces in use. */
export function createSkillsSyncer({ source, emit, onWarning }: SkillsSyncerOptions) {
  const locks = createKeyedLock();
  const ending = new AbortController();
  const underWay = new Set<Promise<boolean>>();
  const known = new WeakMap<Workspace, () => Promise<void>>();
  const warned = new Set<string>();
  const warnOnce = (message: string) => {
    if (!warned.has(message)) onWarning(message);
    warned.add(message);
  };

  function tell(name: string, { written, removed, unchanged, conflicts, skipped }: SkillsSyncReport): void {
    emit('lifecycle.skills.synced', () => ({
      workspace: name,
      ...{ written: written.length, removed: removed.length, unchanged, skipped: skipped.length },
      conflicts: conflicts.slice(0, maxNamed).map(({ path }) => path),
    }));
    if (skipped.length > 0) warnOnce(`these skills and agents of the server are not synced: ${listReasons(skipped)}`);
    if (conflicts.length > 0)
      warnOnce(`these skills of workspace ${name} are not overwritten: ${listReasons(conflicts)}`);
  }

  /**
   * Syncs a workspace and returns whether that succeeded. Syncs of one workspace run one after the other. A failure is
   * only a warning: work goes on.
   */
  async function sync({ id, name, files, wrapCall }: SkillsWorkspace): Promise<boolean> {
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(maxSyncMs)]);
    // Counts as a call that only reads: changes of others are taken in first, and synced files make no checkpoint.
    const call: WorkspaceCall = { tool: 'skills', access: 'read', session: '', title: '', signal };
    const work = async () => tell(name, await syncSkills(files, source, { signal }));
    const synced = locks
      .run(id, async () => (wrapCall ? wrapCall(call, work) : work()))
      .then(
        () => true,
        (thrown) => {
          if (!ending.signal.aborted) onWarning(`skills were not synced to workspace ${name}: ${errorMessage(thrown)}`);
          return false;
        },
      );
    underWay.add(synced);
    void synced.finally(() => underWay.delete(synced));
    return (await untilAborted(synced, signal)) ?? false;
  }

  return {
    sync,

    /** Returns a workspace whose calls wait for the sync. It starts with the first call, or at once. */
    keep(workspace: Workspace, { isAtOnce = false } = {}): Workspace {
      if (workspace.access === 'read-only') return workspace;
      const ready = runOnce(() => sync(workspace));
      const { wrapCall = (_, work) => work() } = workspace;
      const wrapped: Workspace = {
        ...workspace,
        async wrapCall(call, work) {
          await untilAborted(ready(), call.signal);
          return wrapCall(call, work);
        },
      };
      known.set(wrapped, ready);
      if (isAtOnce) void ready();
      return wrapped;
    },

    /** Waits for the sync, for readers that make no call. */
    ready: async (workspace: Workspace): Promise<void> => known.get(workspace)?.(),

    /** Aborts running syncs. The next sync continues where they stopped. */
    async close(): Promise<void> {
      ending.abort();
      await Promise.all(underWay);
    },
  };
}

/** Runs the sync once, and again some time after a failure. */
function runOnce(sync: () => Promise<boolean>): () => Promise<void> {
  let started: Promise<void> | undefined;
  const forget = () => {
    started = undefined;
  };
  return () => {
    started ??= sync().then((isDone) => {
      if (!isDone) setTimeout(forget, retryMs).unref();
    });
    return started;
  };
}

/** Stops waiting on abort, because a storage that hangs ignores the signal. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const onAbort = () => resolve(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  const result = await Promise.race([work, promise]);
  signal.removeEventListener('abort', onAbort);
  return result;
}

function listReasons(reasons: readonly PathReason[]): string {
  const named = reasons.slice(0, maxNamed).map(({ path, reason }) => `${path} (${reason})`);
  const more = reasons.length > named.length ? ` and ${reasons.length - named.length} more` : '';
  return `${named.join(', ')}${more}`;
}
