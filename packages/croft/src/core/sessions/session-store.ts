import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { SessionRow, SessionTable } from '../accounts/ports/call-tables.ts';
import type { Records } from '../accounts/ports/records.ts';
import { SessionLimits } from '../accounts/surface/session-limits.ts';
import { createReadTracker } from '../content/read/read-tracker.ts';
import type { Session } from './session.ts';
import { isChildId } from './session-name.ts';

/** Stores the part of a session that must outlive its server: the next call may come to another server. */
export interface SessionStore {
  /** Merges in what another server has stored since. */
  refresh(session: Session): Promise<void>;
  /** Stores what has changed. */
  save(session: Session): Promise<void>;
}

interface SessionStoreOptions {
  readonly records: Records;
  readonly accountId: string;
  readonly agentId: string;
  readonly name: string;
  /** Limit per account. */
  readonly maxSessions: number;
  readonly now: () => Date;
}

/**
 * Reads the limits and the working directory of a child session. Throws for a state that cannot be parsed: such a state
 * must never mean wider limits.
 */
export function readSessionLimits(state: string): z.output<typeof Bounds> {
  return Bounds.parse(JSON.parse(state));
}

/** Only the newest reads are stored. A file beyond them merely has to be read again before an edit. */
const maxReads = 500;
/** An unchanged session is written again after this time only, to update `usedAt`. */
const touchMs = 60_000;

const StoredDirectory = z.object({ workspace: z.string(), path: z.string() }).optional().catch(undefined);

const Bounds = z.object({ fence: SessionLimits.optional(), depth: z.int().default(0), place: StoredDirectory });

const State = Bounds.extend({
  reads: z.array(z.tuple([z.string(), z.string(), z.string()])).catch([]),
  shells: z.array(z.object({ id: z.string(), workspace: z.string() })).catch([]),
});

export function createSessionStore(options: SessionStoreOptions): SessionStore {
  const { records, accountId, agentId, name, maxSessions, now } = options;
  let known: SessionRow | undefined;
  const boundsOf = createBounds();

  return { refresh, save };

  async function refresh(session: Session): Promise<void> {
    if (known && !(await isChanged(known, records))) return;
    const row = await records.read(async ({ sessions }) => {
      const found = await sessions.get(accountId, agentId, name);
      // Checks the limit before the call runs: afterwards the session could not be stored.
      if (!found) await mustBeBelowLimit(sessions);
      return found;
    });
    if (!row || row.version === known?.version) return;
    merge(session, row);
    known = row;
    session.inbox = row.parent;
  }

  async function save(session: Session): Promise<void> {
    // A child session that has ended stays ended: a row made here would lack its limits.
    if (!known && isChildId(name)) return;
    const before = known;
    const row = toRow(session);
    if (before?.state === row.state && now().getTime() - Date.parse(before.usedAt) < touchMs) return;
    const saved = await records.change(async ({ sessions }) => {
      if (!known) await mustBeBelowLimit(sessions);
      return (await put(sessions, known === before ? row : toRow(session))) ?? putAfter(session, sessions);
    });
    if (saved && saved.version > (known?.version ?? 0)) known = saved;
  }

  async function mustBeBelowLimit(sessions: SessionTable): Promise<void> {
    if ((await sessions.count(accountId)) >= maxSessions) throw tooMany(maxSessions);
  }

  async function put(sessions: SessionTable, row: SessionRow): Promise<SessionRow | undefined> {
    return (await sessions.put(row)) ? row : undefined;
  }

  /** Another call stored the session first, here or on another server: merges with its state. */
  async function putAfter(session: Session, sessions: SessionTable): Promise<SessionRow | undefined> {
    const theirs = await sessions.get(accountId, agentId, name);
    if (!theirs) return undefined;
    merge(session, theirs);
    return put(sessions, toRow(session, theirs));
  }

  /** Builds the row that follows `before`. */
  function toRow(session: Session, before = known): SessionRow {
    const { fence, depth } = boundsOf(before);
    const state = JSON.stringify({ fence, depth, ...toState(session) });
    const version = (before?.version ?? 0) + 1;
    const parent = before?.parent;
    return { accountId, agentId, session: name, parent, state, usedAt: now().toISOString(), version };
  }

  /** Merges in a row of another call, except where this session has changed since its last known row. */
  function merge(session: Session, theirs: SessionRow): void {
    const [base, found] = [readState(known), readState(theirs)];
    const old = new Set(base.reads.map(toKey));
    const own = [...session.reads.seen].filter((read) => !old.has(toKey(read)));
    session.reads = createReadTracker([...session.reads.seen, ...found.reads, ...own]);
    if (isSame(session.workingDirectory, base.place)) session.workingDirectory = found.place;
    session.shells.remember(found.shells);
  }
}

/** Without shared records only this server writes the row. */
async function isChanged({ accountId, agentId, session, version }: SessionRow, records: Records): Promise<boolean> {
  if (!records.isShared) return false;
  return (await records.glance(({ sessions }) => sessions.version(accountId, agentId, session))) !== version;
}

/**
 * Caches the limits and the depth of a session, which never change: a row is large, and parsing it with every call is
 * slow.
 */
function createBounds() {
  let bounds: Pick<z.output<typeof Bounds>, 'fence' | 'depth'> | undefined;
  return (row: SessionRow | undefined) => {
    if (row) bounds ??= readSessionLimits(row.state);
    return bounds ?? { fence: undefined, depth: 0 };
  };
}

function readState(row: SessionRow | undefined): z.output<typeof State> {
  return State.parse(row ? JSON.parse(row.state) : {});
}

function toKey(value: unknown): string {
  return JSON.stringify(value);
}

function isSame(one: Session['workingDirectory'], other: Session['workingDirectory']): boolean {
  return one?.workspace === other?.workspace && one?.path === other?.path;
}

function tooMany(max: number): AppError {
  return new AppError('E_QUOTA', `an account has at most ${max} sessions; end one first`, { details: { max } });
}

function toState({ reads, workingDirectory, shells }: Session) {
  const started = shells.known().map(({ id, workspace }) => ({ id, workspace }));
  return { reads: [...reads.seen].slice(-maxReads), place: workingDirectory, shells: started };
}
