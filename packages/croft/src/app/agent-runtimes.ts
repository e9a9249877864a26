import { narrow } from '../core/accounts/fence.ts';
import type { Registry } from '../core/accounts/registry.ts';
import type { Approvals } from '../core/approvals/approvals.ts';
import type { Journal } from '../core/journal.ts';
import { type AgentRuntime, createAgentRuntime } from './agent-runtime.ts';
import type { AgentSessions } from './agent-sessions.ts';
import { type OpenedAgent, openSurface } from './agent-surface.ts';
import type { RemoteSurface, RemoteSurfaces } from './runners/remote-surface.ts';
import type { RuntimeMeans } from './runtime-means.ts';
import { endRevoked, findSpare, findStale } from './stale-runtimes.ts';

export interface RuntimesOptions extends Omit<RuntimeMeans, 'now'> {
  readonly registry: Registry;
  readonly approvals: Approvals;
  readonly remote: RemoteSurfaces;
  readonly now: () => Date;
  journalOf(accountId: string, agentId: string): Journal;
}

interface Marked {
  readonly mark: string;
  readonly shape: string;
  readonly runtime: AgentRuntime;
}

/** Of one account. Those in which nothing runs are let go of when there are more. */
const maxRuntimes = 256;

/** The agents that were called lately, each by account, id and the fence of the session that calls. */
export function createRuntimes(options: RuntimesOptions, sessions: AgentSessions) {
  // In order of use, so that the first is the one idle longest.
  const runtimes = new Map<string, Marked>();

  return { open, of, closeOf, closeStale, stop };

  /** As it is now: what was taken from an agent is gone at its next call. Throws `E_NOT_FOUND`. */
  async function open(accountId: string, agentId: string, session?: string): Promise<Marked> {
    const fence = session === undefined ? undefined : await sessions.fenceOf({ accountId, agentId }, session);
    const key = `${accountId}/${agentId}/${fence ? JSON.stringify(fence) : ''}`;
    const opened = await openSettled(accountId, agentId);
    const surface = fence ? narrow(opened.surface, fence) : opened.surface;
    const remote = await options.remote.enter(surface);
    const mark = `${opened.mark}${remote.mark}`;
    const known = runtimes.get(key);
    if (known?.mark === mark) return use(key, known);
    const { shape } = opened;
    const made = use(key, { mark, shape, runtime: create({ ...opened, surface, remote }, options, sessions) });
    void closeAll(findSpare(of(accountId), maxRuntimes));
    // What was opened behind the fence as it was does not outlive it.
    void known?.runtime.close();
    return made;
  }

  /** What has to be on a machine is bound to one before anything of it is used. */
  async function openSettled(accountId: string, agentId: string): Promise<OpenedAgent> {
    const opened = await openSurface(options.registry, accountId, agentId);
    if (!(await options.remote.settle(opened.surface))) return opened;
    return openSurface(options.registry, accountId, agentId);
  }

  function use(key: string, runtime: Marked): Marked {
    runtimes.delete(key);
    runtimes.set(key, runtime);
    return runtime;
  }

  function of(accountId: string, agentId?: string): [string, Marked][] {
    const prefix = `${accountId}/${agentId === undefined ? '' : `${agentId}/`}`;
    return [...runtimes].filter(([key]) => key.startsWith(prefix));
  }

  /** Ends what the agents of an account have running, because the account or the agent goes away. */
  async function closeOf(accountId: string, agentId?: string): Promise<void> {
    await closeAll(of(accountId, agentId));
  }

  async function closeAll(gone: readonly [string, Marked][]): Promise<void> {
    for (const [key] of gone) runtimes.delete(key);
    await Promise.all(gone.map(([, { runtime }]) => runtime.close()));
  }

  /** Ends what the records do not allow any more, which may have been changed on another server. */
  async function closeStale(accountId?: string): Promise<void> {
    const all = accountId === undefined ? [...runtimes] : of(accountId);
    const stale = await findStale(options.registry, all);
    await closeAll(all.filter((entry) => stale.has(entry) && runtimes.get(entry[0]) === entry[1]));
    await endRevoked(options, all);
  }

  async function stop(deadlineMs: number): Promise<void> {
    const all = [...runtimes.values()];
    await Promise.all(all.map(({ runtime }) => runtime.toolbox.stop(deadlineMs)));
    await Promise.all(all.map(({ runtime }) => runtime.close()));
    runtimes.clear();
  }
}

function create(
  { remote, ...opened }: Parameters<typeof createAgentRuntime>[0] & { readonly remote: RemoteSurface },
  options: RuntimesOptions,
  { memoryOf }: AgentSessions,
): AgentRuntime {
  const { approvals, now, journalOf } = options;
  const { accountId, id: agentId } = opened.agent;
  const own = { gate: { approvals, accountId, agentId }, journal: journalOf(accountId, agentId) };
  return createAgentRuntime(opened, { ...options, remote, now: () => now().getTime(), ...own, memoryOf });
}
