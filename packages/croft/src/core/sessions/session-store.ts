import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { SessionRow, SessionTable } from '../accounts/ports/call-tables.ts';
import type { Records } from '../accounts/ports/records.ts';
import { SessionLimits } from '../accounts/surface/session-limits.ts';
import { createReadTracker } from '../content/read/read-tracker.ts';
import { createSerialSave } from './serial-save.ts';
import type { Session } from './session.ts';
import { isSameDirectory, isSameFingerprint, type SessionFingerprint, toFingerprint } from './session-fingerprint.ts';
import { isChildId } from './session-name.ts';

/** Stores the part of a session that must outlive its server: the next call may come to another server. */
export interface SessionStore {
  /**
   * Merges in what another server has stored since. `sessionMoves` is the count of the account (`AccountCounts`) since
   * the call arrived: if the count is unchanged, no other server can have stored anything, and nothing is read.
   */
  refresh(session: Session, sessionMoves?: number): Promise<void>;
  /** Stores the session if it has changed. Returns nothing if it has not, as after most calls. */
  save(session: Session): Promise<void> | undefined;
}

interface SessionStoreOptions {
  readonly records: Records;
  readonly accountId: string;
  readonly agentId: string;
  readonly name: string;
  /** Limit per account. */
  readonly maxSessions: number;
  readonly now: () => Date;
  /** Id of the data directory of this server. Absent: every refresh asks the records. */
  readonly serverId?: string | undefined;
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
  const { records, accountId, agentId, name, now, serverId } = options;
  let known: SessionRow | undefined;
  let savedMark: SessionFingerprint | undefined;
  const boundsOf = createBounds();
  const isChanged = createChangeCheck(options);
  const isRecent = () => known !== undefined && now().getTime() - Date.parse(known.usedAt) < touchMs;
  // Compares marks of the session, because its state is large.
  const isStored = (session: Session) => isRecent() && isSameFingerprint(toFingerprint(session), savedMark);
  const inTurn = createSerialSave(save);

  return { refresh, save: (session) => (inTurn.isIdle() && isStored(session) ? undefined : inTurn.save(session)) };

  async function refresh(session: Session, sessionMoves?: number): Promise<void> {
    if (known && !(await isChanged(known, sessionMoves))) return;
    const row = await records.read(async ({ sessions }) => {
      const found = await sessions.get(accountId, agentId, name);
      // Checks the limit before the call runs: afterwards the session could not be stored.
      if (!found) await mustBeBelowLimit(sessions, options);
      return found;
    });
    if (!row || row.version === known?.version) return;
    merge(session, known, row);
    known = row;
    session.inbox = row.parent;
  }

  async function save(session: Session): Promise<void> {
    // A child session that has ended stays ended: a row made here would lack its limits.
    if (isStored(session) || (!known && isChildId(name))) return;
    const mark = toFingerprint(session);
    if (await storeIfChanged(session)) savedMark = mark;
  }

  async function storeIfChanged(session: Session): Promise<boolean> {
    const row = toRow(session);
    if (isRecent() && known?.state === row.state) return true;
    const saved = await store(session, row);
    if (saved && saved.version > (known?.version ?? 0)) known = saved;
    return saved !== undefined;
  }

  async function store(session: Session, row: SessionRow): Promise<SessionRow | undefined> {
    // Stored in one round trip with the end of the call.
    if (known && (await records.recordCall({ session: row }))) return row;
    return records.change(async ({ sessions }) => {
      if (known) return putAfter(session, sessions);
      await mustBeBelowLimit(sessions, options);
      return (await put(sessions, row)) ?? putAfter(session, sessions);
    });
  }

  /** Another call stored the session first, here or on another server: merges with its state. */
  async function putAfter(session: Session, sessions: SessionTable): Promise<SessionRow | undefined> {
    const theirs = await sessions.get(accountId, agentId, name);
    if (!theirs) return undefined;
    merge(session, known, theirs);
    return put(sessions, toRow(session, theirs));
  }

  /** Builds the row that follows `before`. */
  function toRow(session: Session, before = known): SessionRow {
    const { fence, depth } = boundsOf(before);
    const state = JSON.stringify({ fence, depth, ...toState(session) });
    const version = (before?.version ?? 0) + 1;
    const parent = before?.parent;
    return { accountId, agentId, session: name, parent, state, usedAt: now().toISOString(), version, serverId };
  }
}

async function put(sessions: SessionTable, row: SessionRow): Promise<SessionRow | undefined> {
  return (await sessions.put(row)) ? row : undefined;
}

/** Merges in a row of another call, except where the session has changed since its last known row. */
function merge(session: Session, known: SessionRow | undefined, theirs: SessionRow): void {
  const [base, found] = [readState(known), readState(theirs)];
  const old = new Set(base.reads.map(toKey));
  const own = [...session.reads.seen].filter((read) => !old.has(toKey(read)));
  session.reads = createReadTracker([...session.reads.seen, ...found.reads, ...own]);
  if (isSameDirectory(session.workingDirectory, base.place)) session.workingDirectory = found.place;
  session.shells.remember(found.shells);
}

/** Returns a function that tells whether another server has stored a session since. */
function createChangeCheck({ records, serverId }: SessionStoreOptions) {
  /** The count of moves when the stored row was last the known one. */
  let knownMoves: number | undefined;
  return async (known: SessionRow, sessionMoves: number | undefined): Promise<boolean> => {
    const { accountId, agentId, session, version } = known;
    const isOurs = serverId !== undefined && known.serverId === serverId;
    // Without shared records only this server writes the row.
    if (!records.isShared || (isOurs && sessionMoves !== undefined && sessionMoves === knownMoves)) return false;
    const isChanged =
      (await records.glance(({ sessions }) => sessions.version(accountId, agentId, session))) !== version;
    knownMoves = isChanged ? undefined : sessionMoves;
    return isChanged;
  };
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

async function mustBeBelowLimit(
  sessions: SessionTable,
  { accountId, maxSessions: max }: SessionStoreOptions,
): Promise<void> {
  if ((await sessions.count(accountId)) < max) return;
  throw new AppError('E_QUOTA', `an account has at most ${max} sessions; end one first`, { details: { max } });
}

function toState({ reads, workingDirectory, shells }: Session) {
  const started = shells.known().map(({ id, workspace }) => ({ id, workspace }));
  return { reads: [...reads.seen].slice(-maxReads), place: workingDirectory, shells: started };
}
