import { type AccountEvent, AppError } from '@croft/protocol';
import { lastPositions, readPositions, writePositions } from '../accounts/audit/audit-positions.ts';
import type { AuditSource } from '../accounts/audit/audit-source.ts';
import { createAuditRowMerger } from '../accounts/audit/merge-audit-rows.ts';

/** An event that is in no trail. A reader who is away misses it. */
type LiveEvent = Extract<AccountEvent, { readonly type: 'call.started' }>;

/** An event, and the position after it if it has one. */
export interface PositionedEvent {
  readonly id?: string | undefined;
  readonly event: AccountEvent;
}

/** One reader's place in the events of an account. Only the position is stored, so a slow reader costs nothing. */
export interface EventReader extends Disposable {
  /** Returns the next events; an empty list if there are none yet. */
  take(): Promise<readonly PositionedEvent[]>;
  /** Resolves when there may be more. */
  more(): Promise<void>;
  /** Everything up to here was taken, also rows of other accounts. */
  position(): string;
}

interface AccountEventsOptions {
  /** The chains of an account's audit trail. */
  sourcesOf(accountId: string): readonly AuditSource[];
  /** Changes with every row of any account. Asked every `pollMs` while somebody reads. */
  newest(): Promise<number | string>;
  readonly now: () => Date;
  /** Readers that one account may have at once. */
  readonly perAccount?: number | undefined;
  readonly pollMs?: number | undefined;
}

export type AccountEvents = ReturnType<typeof createAccountEvents>;

const defaults = { perAccount: 50, pollMs: 400 };
const rowsPerTake = 100;
/** Rows of all accounts that a reader may be behind. */
const maxBehind = 100_000;
/** Live events that wait for one reader. The oldest are dropped: they have no position. */
const maxWaiting = 256;
const gatherMs = 15;

interface Reading {
  readonly accountId: string;
  live: LiveEvent[];
  bell: PromiseWithResolvers<void>;
}

/**
 * The events of accounts: rows of their audit trails, in order and without gaps, and live events of this server. Rows of
 * this server wake the readers at once; rows of other servers are found by polling.
 */
export function createAccountEvents(options: AccountEventsOptions) {
  const { sourcesOf, newest, now, perAccount = defaults.perAccount, pollMs = defaults.pollMs } = options;
  const readings = new Set<Reading>();
  let timer: NodeJS.Timeout | undefined;
  let [seen, isAsking]: [number | string, boolean] = ['', false];

  return {
    /** Starts a reader now, or after a position. Throws `E_TOO_MANY`. */
    async join(accountId: string, after: string | undefined): Promise<EventReader> {
      if ([...readings].filter((one) => one.accountId === accountId).length >= perAccount) throw tooMany(perAccount);
      const reading: Reading = { accountId, live: [], bell: Promise.withResolvers() };
      readings.add(reading);
      timer ??= setInterval(() => void poll(), pollMs).unref();
      try {
        const rows = await createRowReader(sourcesOf(accountId), after, now);
        return {
          take: async () => [...reading.live.splice(0).map((event) => ({ event })), ...(await rows.take())],
          position: rows.position,
          async more() {
            await reading.bell.promise;
            // Many rows in quick succession are read together.
            await new Promise((resolve) => setTimeout(resolve, gatherMs));
          },
          [Symbol.dispose]: () => leave(reading),
        };
      } catch (thrown) {
        leave(reading);
        throw thrown;
      }
    },
    /** Rows were added by this server. */
    wake,
    hasReaders: (accountId?: string) =>
      [...readings].some((reading) => accountId === undefined || reading.accountId === accountId),
    accounts: () => new Set(Array.from(readings, ({ accountId }) => accountId)),
    publish(accountId: string, event: LiveEvent): void {
      for (const reading of readings) {
        if (reading.accountId !== accountId) continue;
        reading.live = [...reading.live.slice(1 - maxWaiting), event];
        ring(reading);
      }
    },
  };

  /** Finds rows of other servers. While the records do not answer, there is nothing to find. */
  async function poll(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    const found = await newest().catch(() => seen);
    isAsking = false;
    if (found !== seen) wake();
    seen = found;
  }

  function wake(): void {
    for (const reading of readings) ring(reading);
  }

  function leave(reading: Reading): void {
    readings.delete(reading);
    ring(reading);
    if (readings.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }
}

function ring(reading: Reading): void {
  reading.bell.resolve();
  reading.bell = Promise.withResolvers();
}

/** Reads the rows after a position, and remembers the position of the last one. */
async function createRowReader(sources: readonly AuditSource[], after: string | undefined, now: () => Date) {
  const end = await lastPositions(sources);
  const asked = after === undefined ? end : readPositions(after, sources.length);
  const first = await Promise.all(sources.map((source) => source.first?.() ?? 0));
  let isReset = asked === undefined || !isReachable(asked, first, end);
  let positions: readonly number[] = isReset || !asked ? end : asked;

  async function readRows(): Promise<PositionedEvent[]> {
    const last = await lastPositions(sources);
    if (last.every((position, index) => position <= (positions[index] ?? 0))) return [];
    const merged = createAuditRowMerger(sources, positions, 'oldest');
    const events: PositionedEvent[] = [];
    for (let row = await merged.next(); row; row = await merged.next()) {
      events.push({ id: writePositions(merged.positions()), event: { type: 'audit', record: row } });
      if (events.length >= rowsPerTake) break;
    }
    // When no rows of this account are left, the position moves past the rows of other accounts too.
    const passed = merged.positions();
    positions = events.length < rowsPerTake ? passed.map((one, index) => Math.max(one, last[index] ?? 0)) : passed;
    return events;
  }

  return {
    position: () => writePositions(positions),
    async take(): Promise<PositionedEvent[]> {
      const reset: PositionedEvent[] = isReset
        ? [{ id: writePositions(positions), event: { type: 'reset', at: now().toISOString() } }]
        : [];
      isReset = false;
      return [...reset, ...(await readRows())];
    },
  };
}

/** A position after the end is of a trail that was replaced, and rows before the first are gone. */
function isReachable(asked: readonly number[], first: readonly number[], last: readonly number[]): boolean {
  return asked.every((position, index) => {
    const end = last[index] ?? 0;
    return position <= end && end - position <= maxBehind && position >= (first[index] ?? 0) - 1;
  });
}

function tooMany(max: number): AppError {
  return new AppError('E_TOO_MANY', `${max} event streams of this account are open already`, { details: { max } });
}
