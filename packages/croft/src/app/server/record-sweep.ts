import type { Records } from '../../core/accounts/ports/records.ts';

interface SweepOptions {
  readonly records: Records;
  readonly now: () => Date;
  /** A session that nobody used for this long is removed. */
  readonly sessionIdleMs: number;
  /** How long a runner may be away and still remove the files of a removed workspace. */
  readonly removalMs: number;
  /** Ends what runs here without permission, because another server changed the records. */
  closeStale(): Promise<void>;
  closeGone(): void;
  onFailure(thrown: unknown): void;
}

const hourMs = 3_600_000;
const staleMs = 30_000;
/** How long a repeated request gets the same answer. */
const requestMs = 24 * hourMs;
/** How long decided approvals stay visible. Later only the audit trail has them. */
const approvalMs = 30 * 24 * hourMs;

/** Removes expired records at the start and every hour. Several servers may do so at once. */
export function startRecordSweep(options: SweepOptions): Disposable {
  const { records, now, sessionIdleMs, removalMs, closeStale, closeGone, onFailure } = options;
  const before = (ageMs: number) => new Date(now().getTime() - ageMs).toISOString();
  const sweep = () =>
    records
      .change(async ({ sessions, requests, approvals, removals, browserSessions }) => {
        await sessions.removeIdle(before(sessionIdleMs));
        await requests.removeBefore(before(requestMs));
        await approvals.removeBefore(before(approvalMs));
        await removals.removeBefore(before(removalMs));
        await browserSessions.removeBefore(before(0));
      })
      .catch(onFailure);
  void sweep();
  const timers = [
    setInterval(sweep, hourMs),
    setInterval(closeGone, hourMs),
    setInterval(() => void closeStale().catch(onFailure), staleMs),
  ];
  for (const timer of timers) timer.unref();
  return { [Symbol.dispose]: () => timers.forEach(clearInterval) };
}
