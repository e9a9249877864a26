import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { Fence } from './accounts/fence.ts';
import type { Records, SessionRow, SessionTable } from './accounts/records.ts';
import { createReadTracker } from './content/read-tracker.ts';
import type { Session } from './session.ts';
import { isChildId } from './session-name.ts';

/** Keeps of a session what must outlive the server it is on: the next call may come to another one. */
export interface SessionMemory {
  /** Takes in what another server has kept meanwhile. */
  refresh(session: Session): Promise<void>;
  /** Keeps what has changed. */
  keep(session: Session): Promise<void>;
}

export interface SessionMemoryOptions {
  readonly records: Records;
  readonly accountId: string;
  readonly agentId: string;
  readonly name: string;
  /** Of one account. */
  readonly maxSessions: number;
  readonly now: () => Date;
}

/** What a child session may do, and where it starts. A state that cannot be understood is no wider fence. */
export function readFence(state: string): Pick<z.output<typeof State>, 'fence' | 'depth' | 'place'> {
  const { fence, depth, place } = State.parse(JSON.parse(state));
  return { fence, depth, place };
}

/** A file that is not among the newest has to be read again, which is no harm. */
const maxReads = 500;
/** A session that is only looked at is not written at every look. */
const touchMs = 60_000;

const Kept = z.object({ workspace: z.string(), path: z.string() }).optional().catch(undefined);

const State = z.object({
  fence: Fence.optional(),
  depth: z.int().default(0),
  reads: z.array(z.tuple([z.string(), z.string(), z.string()])).catch([]),
  place: Kept,
  shells: z.array(z.object({ id: z.string(), workspace: z.string() })).catch([]),
});

export function createSessionMemory(options: SessionMemoryOptions): SessionMemory {
  const { records, accountId, agentId, name, maxSessions, now } = options;
  let known: SessionRow | undefined;

  return { refresh, keep };

  async function refresh(session: Session): Promise<void> {
    const row = await records.read(async ({ sessions }) => {
      const found = await sessions.get(accountId, agentId, name);
      // What cannot be kept is refused before anything is done, not after.
      if (!found) await mustHaveRoom(sessions);
      return found;
    });
    if (!row || row.version === known?.version) return;
    merge(session, row);
    known = row;
    session.inbox = row.parent;
  }

  async function keep(session: Session): Promise<void> {
    // A child that was ended meanwhile stays so: a row made here would be one without its fence.
    if (!known && isChildId(name)) return;
    if (known?.state === toRow(session).state && now().getTime() - Date.parse(known.usedAt) < touchMs) return;
    const kept = await records.change(async ({ sessions }) => {
      if (!known) await mustHaveRoom(sessions);
      return (await put(sessions, toRow(session))) ?? putAfter(session, sessions);
    });
    if (kept && kept.version > (known?.version ?? 0)) known = kept;
  }

  async function mustHaveRoom(sessions: SessionTable): Promise<void> {
    if ((await sessions.count(accountId)) >= maxSessions) throw tooMany(maxSessions);
  }

  async function put(sessions: SessionTable, row: SessionRow): Promise<SessionRow | undefined> {
    return (await sessions.put(row)) ? row : undefined;
  }

  /** Another call was faster, here or on another server: what it kept stays, and this is added to it. */
  async function putAfter(session: Session, sessions: SessionTable): Promise<SessionRow | undefined> {
    const theirs = await sessions.get(accountId, agentId, name);
    if (!theirs) return undefined;
    merge(session, theirs);
    return put(sessions, toRow(session, theirs));
  }

  /** As it is to be kept after the one before. */
  function toRow(session: Session, before = known): SessionRow {
    const { fence, depth = 0 } = before ? readFence(before.state) : {};
    const state = JSON.stringify({ fence, depth, ...toState(session) });
    const version = (before?.version ?? 0) + 1;
    const parent = before?.parent;
    return { accountId, agentId, session: name, parent, state, usedAt: now().toISOString(), version };
  }

  /** Takes in what somebody else has kept, except where this session has come further since it last knew. */
  function merge(session: Session, theirs: SessionRow): void {
    const [base, found] = [readState(known), readState(theirs)];
    const old = new Set(base.reads.map(toKey));
    const own = [...session.reads.seen].filter((read) => !old.has(toKey(read)));
    session.reads = createReadTracker([...session.reads.seen, ...found.reads, ...own]);
    if (isSame(session.place, base.place)) session.place = found.place;
    session.shells.remember(found.shells);
  }
}

function readState(row: SessionRow | undefined): z.output<typeof State> {
  return State.parse(row ? JSON.parse(row.state) : {});
}

function toKey(value: unknown): string {
  return JSON.stringify(value);
}

function isSame(one: Session['place'], other: Session['place']): boolean {
  return one?.workspace === other?.workspace && one?.path === other?.path;
}

function tooMany(max: number): AppError {
  return new AppError('E_QUOTA', `an account has at most ${max} sessions; end one first`, { details: { max } });
}

function toState({ reads, place, shells }: Session) {
  const started = shells.known().map(({ id, workspace }) => ({ id, workspace }));
  return { reads: [...reads.seen].slice(-maxReads), place, shells: started };
}
