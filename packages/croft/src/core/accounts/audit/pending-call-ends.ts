import type { AuditEntry, CallRow } from '../ports/call-tables.ts';
import type { Records } from '../ports/records.ts';

/** The end of a call that could not be recorded in time. */
interface PendingCallEnd {
  readonly call: string;
  /** Whether the audit trail may contain the beginning of the call. */
  readonly hasBegun: boolean;
  readonly entries: readonly AuditEntry[];
}

interface PendingCallEndsOptions {
  readonly records: Records;
  onWarning(message: string): void;
}

export type PendingCallEnds = ReturnType<typeof createPendingCallEnds>;

/** No call begins while the records do not answer, so that there are never more ends than calls were in progress. */
const maxPending = 10_000;
const atOnce = 100;
const firstPauseMs = 250;
const maxPauseMs = 10_000;

/**
 * Keeps the ends of calls that the records did not accept, in memory, and records them later. An end that is lost from
 * here (too many, or the process is killed) is recorded by the next start: see `closeInterruptedCalls`.
 */
export function createPendingCallEnds({ records, onWarning }: PendingCallEndsOptions) {
  const pending = new Map<string, PendingCallEnd>();
  let isPlanned = false;
  let pauseMs = firstPauseMs;
  let writing: Promise<void> | undefined;

  function add(end: PendingCallEnd): void {
    if (pending.size === 0)
      onWarning(`the records do not answer: ends of calls wait to be recorded in the audit trail`);
    if (pending.size < maxPending) pending.set(end.call, end);
    plan();
  }

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    setTimeout(() => {
      isPlanned = false;
      void flush();
    }, pauseMs).unref();
    pauseMs = Math.min(pauseMs * 2, maxPauseMs);
  }

  /** Never throws: a failed attempt is repeated later. */
  function flush(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  async function writeAll(): Promise<void> {
    let count = 0;
    try {
      for (; pending.size > 0; ) {
        const ends = [...pending.values()].slice(0, atOnce);
        await records.change((tables) => recordEnds(tables, ends));
        for (const { call } of ends) pending.delete(call);
        count += ends.length;
      }
      pauseMs = firstPauseMs;
      if (count > 0) onWarning(`the records answer again: the ends of ${count} calls were recorded late`);
    } catch {
      plan();
    }
  }

  return { add, flush, size: () => pending.size };
}

type Needed = Parameters<Parameters<Records['change']>[0]>[0];

/**
 * Records each end once. If the first attempt succeeded although it seemed to fail, the call is no longer open and
 * nothing is written.
 */
async function recordEnds({ audit, calls }: Needed, ends: readonly PendingCallEnd[]): Promise<void> {
  for (const { call, hasBegun, entries } of ends)
    if (!hasBegun || (await calls.remove(call))) await audit.append(entries);
}

/**
 * Ends the calls in the audit trail that a killed server began but never ended. Runs at the start of that server,
 * before it accepts calls. Resolves with the number of calls.
 */
export async function closeInterruptedCalls(records: Records, serverId: string, now: () => Date): Promise<number> {
  for (let count = 0; ; ) {
    const closed = await records.change(async ({ audit, calls }) => {
      const rows = await calls.of(serverId, atOnce);
      await audit.append(rows.map((row) => toInterrupted(row, now())));
      for (const { callId } of rows) await calls.remove(callId);
      return rows.length;
    });
    count += closed;
    if (closed < atOnce) return count;
  }
}

function toInterrupted({ accountId, actor, tool, callId }: CallRow, at: Date): AuditEntry {
  const reason = 'the server ended before it recorded the end of this call: look at what the call did';
  const details = JSON.stringify({ tool, call: callId, is_error: true, code: 'E_INTERRUPTED', reason });
  return { accountId, at: at.toISOString(), actor, action: 'call.ended', target: tool, details };
}
