import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { createPerAccountCache } from '../../core/accounts/lifecycle/per-account-cache.ts';
import type { SessionTable } from '../../core/accounts/ports/call-tables.ts';
import type { Paged, PageRequest } from '../../core/accounts/ports/pages.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import type { AgentSurface } from '../../core/accounts/surface/resolve-surface.ts';
import { narrowSurface, SessionLimits, tightenLimits } from '../../core/accounts/surface/session-limits.ts';
import { parseBySchema } from '../../core/arguments/parse-by-schema.ts';
import { isChildId, newChildName, sessionNotFound } from '../../core/sessions/session-name.ts';
import { createSessionStore, readSessionLimits, type SessionStore } from '../../core/sessions/session-store.ts';

interface AgentSessionsOptions {
  readonly records: Records;
  /** Limit per account. */
  readonly maxSessions: number;
  readonly now: () => Date;
  /** Id of the data directory. Absent: another server may be the one that stored a session. */
  readonly serverId?: string | undefined;
}

interface AgentSessionView {
  /** The name by which callers address the session. */
  readonly session: string;
  readonly parent?: string | undefined;
  readonly usedAt: string;
}

export interface SessionOwner {
  readonly accountId: string;
  readonly agentId: string;
}

interface OpenChildOptions {
  /** The surface of the agent. */
  readonly surface: AgentSurface;
  /** Turns a session name into an id that includes the caller. */
  toId(name: string): string;
}

export type AgentSessions = ReturnType<typeof createAgentSessions>;

/** How deep sessions may nest. */
const maxDepth = 6;

/** Strict, because a misspelt field must not grant a wider access. */
const Opening = SessionLimits.extend({ parent: z.string().min(1).max(128).default('default') }).strict();

/** The sessions of agents. They are stored, so they survive a restart of the server. */
export function createAgentSessions({ records, maxSessions, now, serverId }: AgentSessionsOptions) {
  const unchanged = createPerAccountCache<SessionLimits | undefined>(records);
  return { open, list, end, limitsOf, memoryOf, removeIdle };

  /** Opens a child of a session, with equal or narrower limits, in the working directory of its parent. */
  async function open(
    owner: SessionOwner,
    body: unknown,
    { surface, toId }: OpenChildOptions,
  ): Promise<AgentSessionView> {
    const { parent, ...wanted } = parseBySchema(Opening, body);
    const session = newChildName();
    const usedAt = now().toISOString();
    await records.change(async ({ sessions }) => {
      await mustBeBelowLimit(sessions, owner);
      const above = await sessions.get(owner.accountId, owner.agentId, toId(parent));
      if (!above && isChildId(toId(parent))) throw sessionNotFound(parent);
      const state = childState(above?.state, wanted, surface);
      const row = { ...owner, session: toId(session), parent: toId(parent), state, usedAt, version: 1 };
      if (!(await sessions.put(row))) throw new AppError('E_ALREADY_EXISTS', 'a session of this name exists already');
    });
    return { session, parent, usedAt };
  }

  async function mustBeBelowLimit(sessions: SessionTable, { accountId }: SessionOwner): Promise<void> {
    if ((await sessions.count(accountId)) < maxSessions) return;
    throw new AppError('E_QUOTA', `an account has at most ${maxSessions} sessions; end one first`);
  }

  async function list({ accountId, agentId }: SessionOwner, page: PageRequest): Promise<Paged<AgentSessionView>> {
    const { rows, next } = await records.read(({ sessions }) => sessions.list(accountId, agentId, page));
    return { rows: rows.map(({ session, parent, usedAt }) => ({ session, parent, usedAt })), next };
  }

  function end({ accountId, agentId }: SessionOwner, session: string): Promise<boolean> {
    return records.change(({ sessions }) => sessions.remove(accountId, agentId, session));
  }

  /**
   * Returns the limits of a session. A child session without stored limits has no access at all: throws `E_NOT_FOUND`.
   */
  async function limitsOf(
    { accountId, agentId }: SessionOwner,
    session: string,
    asOf?: number,
  ): Promise<SessionLimits | undefined> {
    const read = async () => {
      const row = await records.read(({ sessions }) => sessions.get(accountId, agentId, session));
      return row && readSessionLimits(row.state).fence;
    };
    const fence = await unchanged({ accountId, name: `${agentId}/${session}`, asOf, read });
    if (!fence && isChildId(session)) throw sessionNotFound(session);
    return fence;
  }

  function memoryOf({ accountId, agentId }: SessionOwner, name: string): SessionStore {
    return createSessionStore({ records, accountId, agentId, name, maxSessions, now, serverId });
  }

  function removeIdle(before: Date): Promise<number> {
    return records.change(({ sessions }) => sessions.removeIdle(before.toISOString()));
  }
}

function childState(above: string | undefined, wanted: SessionLimits, surface: AgentSurface): string {
  const { fence, depth, place } = above === undefined ? { depth: 0 } : readSessionLimits(above);
  if (depth >= maxDepth)
    throw new AppError('E_QUOTA', `a session has at most ${maxDepth} parents above it`, {
      hint: 'Start the session as a child of one with fewer parents.',
    });
  const tight = tightenLimits(fence ?? {}, wanted);
  // Rejects limits that name something the agent does not have, before they are stored.
  narrowSurface(surface, tight);
  return JSON.stringify({ fence: tight, depth: depth + 1, place });
}
