import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { Surface } from '../core/accounts/cascade.ts';
import { Fence, narrow, tighten } from '../core/accounts/fence.ts';
import type { Page, Paged, Records, SessionTable } from '../core/accounts/records.ts';
import { parse } from '../core/parse.ts';
import { createSessionMemory, readFence, type SessionMemory } from '../core/session-memory.ts';
import { isChildId, newChildName } from '../core/session-name.ts';

export interface AgentSessionsOptions {
  readonly records: Records;
  /** Of one account. */
  readonly maxSessions: number;
  readonly now: () => Date;
}

export interface SessionView {
  /** What to call it by. */
  readonly session: string;
  readonly parent?: string | undefined;
  readonly usedAt: string;
}

export interface SessionOwner {
  readonly accountId: string;
  readonly agentId: string;
}

export interface OpenOptions {
  /** What the agent has. */
  readonly surface: Surface;
  /** Names a session after who asks. */
  toId(name: string): string;
}

export type AgentSessions = ReturnType<typeof createAgentSessions>;

/** As deep as sessions may open sessions. */
const maxDepth = 6;

/** Strict: a word misspelt must not open a wider fence. */
const Opening = Fence.extend({ parent: z.string().min(1).max(128).default('default') }).strict();

/** The sessions of agents, which outlive the server they are on. */
export function createAgentSessions({ records, maxSessions, now }: AgentSessionsOptions) {
  return { open, list, end, fenceOf, memoryOf, removeIdle };

  /** A child of a session, with an equal or a narrower fence, where its parent is. */
  async function open(owner: SessionOwner, body: unknown, { surface, toId }: OpenOptions): Promise<SessionView> {
    const { parent, ...wanted } = parse(Opening, body);
    const session = newChildName();
    const usedAt = now().toISOString();
    await records.change(async ({ sessions }) => {
      await mustHaveRoom(sessions, owner);
      const above = await sessions.get(owner.accountId, owner.agentId, toId(parent));
      if (!above && isChildId(toId(parent))) throw notFound(parent);
      const state = stateBelow(above?.state, wanted, surface);
      const row = { ...owner, session: toId(session), parent: toId(parent), state, usedAt, version: 1 };
      if (!(await sessions.put(row))) throw new AppError('E_ALREADY_EXISTS', 'there is such a session already');
    });
    return { session, parent, usedAt };
  }

  async function mustHaveRoom(sessions: SessionTable, { accountId }: SessionOwner): Promise<void> {
    if ((await sessions.count(accountId)) < maxSessions) return;
    throw new AppError('E_QUOTA', `an account has at most ${maxSessions} sessions; end one first`);
  }

  async function list({ accountId, agentId }: SessionOwner, page: Page): Promise<Paged<SessionView>> {
    const { rows, next } = await records.read(({ sessions }) => sessions.list(accountId, agentId, page));
    return { rows: rows.map(({ session, parent, usedAt }) => ({ session, parent, usedAt })), next };
  }

  function end({ accountId, agentId }: SessionOwner, session: string): Promise<boolean> {
    return records.change(({ sessions }) => sessions.remove(accountId, agentId, session));
  }

  /** A child that is not known any more has no fence to go by, and so nothing at all. */
  async function fenceOf({ accountId, agentId }: SessionOwner, session: string): Promise<Fence | undefined> {
    const row = await records.read(({ sessions }) => sessions.get(accountId, agentId, session));
    const fence = row && readFence(row.state).fence;
    if (!fence && isChildId(session)) throw notFound(session);
    return fence;
  }

  function memoryOf({ accountId, agentId }: SessionOwner, name: string): SessionMemory {
    return createSessionMemory({ records, accountId, agentId, name, maxSessions, now });
  }

  function removeIdle(before: Date): Promise<number> {
    return records.change(({ sessions }) => sessions.removeIdle(before.toISOString()));
  }
}

function stateBelow(above: string | undefined, wanted: Fence, surface: Surface): string {
  const { fence, depth, place } = above === undefined ? { depth: 0 } : readFence(above);
  if (depth >= maxDepth) throw new AppError('E_QUOTA', `sessions are at most ${maxDepth} deep`);
  const tight = tighten(fence ?? {}, wanted);
  // What the agent does not have is refused here, and so never kept.
  narrow(surface, tight);
  return JSON.stringify({ fence: tight, depth: depth + 1, place });
}

function notFound(session: string): AppError {
  return new AppError('E_NOT_FOUND', 'Session not found', { details: { session } });
}
