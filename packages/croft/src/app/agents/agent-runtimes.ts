import type { AppError } from '@croft/protocol';
import type { Records } from '../../core/accounts/ports/records.ts';
import type { Registry } from '../../core/accounts/ports/registry.ts';
import type { AgentSurface } from '../../core/accounts/surface/resolve-surface.ts';
import { narrowSurface } from '../../core/accounts/surface/session-limits.ts';
import type { Approvals } from '../../core/approvals/approvals.ts';
import type { CallJournal } from '../../core/events/call-journal.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { RemoteSurfaces } from '../fleet/remote-surface.ts';
import type { AgentState, InterruptionReasons } from './agent-parts.ts';
import { type AgentRuntime, createAgentRuntime } from './agent-runtime.ts';
import type { AgentSessions } from './agent-sessions.ts';
import { changedSecrets, findLostAccess, interrupted, type RuntimeGrants, secretChanged } from './find-lost-access.ts';
import { endRevoked, findIdleRuntimes, findStaleRuntimes } from './find-stale-runtimes.ts';
import type { OpenAgent, OpenedAgent } from './open-agent.ts';
import type { RuntimeOptions } from './runtime-options.ts';

export interface AgentRuntimesOptions extends Omit<RuntimeOptions, 'now'> {
  readonly registry: Registry;
  readonly records: Records;
  readonly openSurface: OpenAgent;
  readonly approvals: Approvals;
  readonly remote: RemoteSurfaces;
  readonly now: () => Date;
  journalOf(accountId: string, agentId: string): CallJournal;
}

interface RuntimeRequest {
  readonly accountId: string;
  readonly agentId: string;
  /** The session of the request. Absent: the request is about access that every session has. */
  readonly session?: string | undefined;
  /** See `Actor.asOf`. */
  readonly asOf?: number | undefined;
}

interface OpenRuntime extends RuntimeGrants {
  /** The records that the runtime was made from. */
  readonly source: RuntimeSource;
  readonly runtime: AgentRuntime;
}

interface RuntimeSource {
  readonly opened: OpenedAgent;
  readonly remoteMark: string;
}

/** Why runtimes are closed, and which. */
interface Closing {
  isOver(agentId: string, surface: AgentSurface): boolean;
  readonly reason: string;
}

const deletion: Closing = { isOver: () => true, reason: 'the agent or its account was deleted' };
const maxLosses = 10_000;

/** Limit per account. When there are more, idle runtimes are closed. */
const maxRuntimes = 256;

/** Runtimes of recently called agents, by account, agent id and the limits of the calling session. */
export function createAgentRuntimes(options: AgentRuntimesOptions, sessions: AgentSessions) {
  // In order of last use: the first entry has been idle longest.
  const runtimes = new Map<string, OpenRuntime>();
  const losses = new BoundedMap<string, string>(maxLosses);

  return { open, of, closeOf, closeStale, stop };

  /**
   * Opens the agent as its records are now, so access that was taken away is gone at the next call. Throws
   * `E_NOT_FOUND`.
   */
  async function open({ accountId, agentId, session, ...asked }: RuntimeRequest): Promise<OpenRuntime> {
    const asOf = asked.asOf ?? (await options.records.glance(({ accounts }) => accounts.changes(accountId)));
    const sessionLimits =
      session === undefined ? undefined : await sessions.limitsOf({ accountId, agentId }, session, asOf);
    const key = `${accountId}/${agentId}/${sessionLimits ? JSON.stringify(sessionLimits) : ''}`;
    const opened = await openBound(options, { accountId, agentId, asOf });
    const surface = sessionLimits ? narrowSurface(opened.surface, sessionLimits) : opened.surface;
    const remote = await options.remote.openWorkspaces(surface);
    const source = { opened, remoteMark: remote.mark };
    const known = runtimes.get(key);
    if (known && isSameSource(known.source, source)) return use(key, known);
    const state = { ...opened, surface, remote };
    const runtime = (known && updateOrClose(known, opened, state)) ?? create(state, options, sessions, losses);
    const granted = { surface, config: opened.agent.config };
    const made = use(key, { source, granted, sessionLimits, secrets: opened.secrets, runtime });
    void closeAll(findIdleRuntimes(of(accountId), maxRuntimes));
    return made;
  }

  function use(key: string, runtime: OpenRuntime): OpenRuntime {
    runtimes.delete(key);
    runtimes.set(key, runtime);
    return runtime;
  }

  function of(accountId: string, agentId?: string): [string, OpenRuntime][] {
    const prefix = `${accountId}/${agentId === undefined ? '' : `${agentId}/`}`;
    return [...runtimes].filter(([key]) => key.startsWith(prefix));
  }

  /** Ends everything that the agents of an account run, or those that `isOver` picks. */
  async function closeOf(accountId: string, agentId?: string, { isOver, reason }: Closing = deletion): Promise<void> {
    const over = of(accountId, agentId).filter(([, { granted, runtime }]) => isOver(runtime.agent.id, granted.surface));
    await closeAll(over, interrupted([reason]));
  }

  async function closeAll(gone: readonly [string, OpenRuntime][], reason?: AppError): Promise<void> {
    for (const [key] of gone) runtimes.delete(key);
    await Promise.all(gone.map(([, { runtime }]) => runtime.close(reason)));
  }

  /** Ends everything that the records no longer allow. Another server may have changed the records. */
  async function closeStale(accountId?: string): Promise<void> {
    const all = accountId === undefined ? [...runtimes] : of(accountId);
    const stale = await findStaleRuntimes(options.openSurface, all);
    const own = [...stale].filter(([[key, marked]]) => runtimes.get(key) === marked);
    await Promise.all(own.map(([entry, lost]) => closeAll([entry], interrupted(lost))));
    await endRevoked(options, all);
  }

  async function stop(deadlineMs: number): Promise<void> {
    const all = [...runtimes.values()];
    await Promise.all(all.map(({ runtime }) => runtime.stop(deadlineMs)));
    await Promise.all(all.map(({ runtime }) => runtime.close()));
    runtimes.clear();
  }
}

/**
 * Whether a runtime that was made from one source can serve the other. Compares the objects first: the marks contain
 * every secret of the account, so that comparing them takes longer with each secret.
 */
function isSameSource(one: RuntimeSource, other: RuntimeSource): boolean {
  if (one.remoteMark !== other.remoteMark) return false;
  return one.opened === other.opened || one.opened.mark === other.opened.mark;
}

/** Binds workspaces that must be on a runner to one, before anything of them is used. */
async function openBound(
  { openSurface, remote }: AgentRuntimesOptions,
  { accountId, agentId, asOf }: { accountId: string; agentId: string; asOf: number },
): Promise<OpenedAgent> {
  const opened = await openSurface(accountId, agentId, asOf);
  return (await remote.bindToRunners(opened.surface)) ? openSurface(accountId, agentId) : opened;
}

/**
 * Updates the runtime and returns it if its sessions lost nothing. Otherwise closes it, with everything it runs, and
 * returns nothing.
 */
function updateOrClose(known: OpenRuntime, now: OpenedAgent, state: AgentState): AgentRuntime | undefined {
  const { runtime } = known;
  const lost = findLostAccess(known, now);
  if (lost.length > 0) {
    void runtime.close(interrupted(lost));
    return undefined;
  }
  void runtime.endGiven(changedSecrets(known.secrets, now.secrets), secretChanged);
  runtime.update(state);
  return runtime;
}

function create(
  state: AgentState,
  options: AgentRuntimesOptions,
  { memoryOf }: AgentSessions,
  losses: Map<string, string>,
): AgentRuntime {
  const { approvals, now, journalOf } = options;
  const { accountId, id: agentId } = state.agent;
  const own = { gate: { approvals, accountId, agentId }, journal: journalOf(accountId, agentId) };
  const ownLosses = toLosses(losses, `${accountId}/${agentId}`);
  return createAgentRuntime(state, { ...options, now: () => now().getTime(), ...own, memoryOf, losses: ownLosses });
}

function toLosses(all: Map<string, string>, agent: string): InterruptionReasons {
  return {
    get: (session) => all.get(`${agent}/${session}`),
    set: (session, words) => void all.set(`${agent}/${session}`, words),
  };
}
