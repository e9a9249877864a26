import { createKeyedLock } from '../../lib/keyed-lock.ts';
import type { Emit } from '../events.ts';
import type { CallAround, Workspace } from '../workspace.ts';
import type { Reason, SkillsSource } from './source.ts';
import { type SyncReport, syncSkills } from './sync.ts';

export interface SkillsKeeperOptions {
  readonly source: SkillsSource;
  readonly emit: Emit;
  onWarning(message: string): void;
}

/** A workspace, as far as skills are brought to it. */
export type SkillsWorkspace = Pick<Workspace, 'id' | 'name' | 'files' | 'around'>;

export type SkillsKeeper = ReturnType<typeof createSkillsKeeper>;

/** No call waits longer than that for skills. */
const maxSyncMs = 60_000;
const retryMs = 30_000;
/** Named in an event or a warning. */
const maxNamed = 20;

/** Brings the server's skills and agents to the workspaces that are worked in. */
export function createSkillsKeeper({ source, emit, onWarning }: SkillsKeeperOptions) {
  const locks = createKeyedLock();
  const ending = new AbortController();
  const underWay = new Set<Promise<boolean>>();
  const known = new WeakMap<Workspace, () => Promise<void>>();
  const warned = new Set<string>();
  const warnOnce = (message: string) => {
    if (!warned.has(message)) onWarning(message);
    warned.add(message);
  };

  function tell(name: string, { written, removed, unchanged, conflicts, skipped }: SyncReport): void {
    emit('lifecycle.skills.synced', () => ({
      workspace: name,
      ...{ written: written.length, removed: removed.length, unchanged, skipped: skipped.length },
      conflicts: conflicts.slice(0, maxNamed).map(({ path }) => path),
    }));
    if (skipped.length > 0) warnOnce(`of the server's skills and agents these are left out: ${listed(skipped)}`);
    if (conflicts.length > 0) warnOnce(`skills of workspace ${name} are left as they are: ${listed(conflicts)}`);
  }

  /** Whether they are there. Those of one workspace one after the other. What goes wrong is a warning: work goes on. */
  async function sync({ id, name, files, around }: SkillsWorkspace): Promise<boolean> {
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(maxSyncMs)]);
    // A call that only reads: what others stored is taken in first, and no checkpoint is made of what is brought.
    const call: CallAround = { tool: 'skills', access: 'read', session: '', title: '', signal };
    const work = async () => tell(name, await syncSkills(files, source, { signal }));
    const synced = locks
      .run(id, async () => (around ? around(call, work) : work()))
      .then(
        () => true,
        (thrown) => {
          if (!ending.signal.aborted) onWarning(`skills were not synced to workspace ${name}: ${messageOf(thrown)}`);
          return false;
        },
      );
    underWay.add(synced);
    void synced.finally(() => underWay.delete(synced));
    return (await untilAborted(synced, signal)) ?? false;
  }

  return {
    sync,

    /** The workspace, each call of which finds them in place. They are brought when the first call comes, or at once. */
    keep(workspace: Workspace, { isAtOnce = false } = {}): Workspace {
      if (workspace.access === 'read-only') return workspace;
      const ready = createReady(() => sync(workspace));
      const { around = (_, work) => work() } = workspace;
      const kept: Workspace = {
        ...workspace,
        async around(call, work) {
          await untilAborted(ready(), call.signal);
          return around(call, work);
        },
      };
      known.set(kept, ready);
      if (isAtOnce) void ready();
      return kept;
    },

    /** For whoever looks into a workspace without a call. */
    ready: async (workspace: Workspace): Promise<void> => known.get(workspace)?.(),

    /** Ends what is under way. The next sync goes on where it stopped. */
    async close(): Promise<void> {
      ending.abort();
      await Promise.all(underWay);
    },
  };
}

/** Done once, and again some time after it failed. */
function createReady(sync: () => Promise<boolean>): () => Promise<void> {
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

/** A storage that hangs does not hear a signal. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const onAbort = () => resolve(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  const result = await Promise.race([work, promise]);
  signal.removeEventListener('abort', onAbort);
  return result;
}

function listed(reasons: readonly Reason[]): string {
  const named = reasons.slice(0, maxNamed).map(({ path, reason }) => `${path} (${reason})`);
  const more = reasons.length > named.length ? ` and ${reasons.length - named.length} more` : '';
  return `${named.join(', ')}${more}`;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
