import type { Records } from '../core/accounts/records.ts';

export interface SweepOptions {
  readonly records: Records;
  readonly now: () => Date;
  /** A session that nobody used for so long is over. */
  readonly sessionIdleMs: number;
  /** For so long a runner that is away is waited for, to take away what it has of a workspace that is gone. */
  readonly removalMs: number;
  /** Ends what runs here and may not any more, because another server changed the records. */
  closeStale(): Promise<void>;
  closeGone(): void;
  onFailure(thrown: unknown): void;
}

const hourMs = 3_600_000;
const staleMs = 30_000;
/** For how long a request made again is answered as it was. */
const requestMs = 24 * hourMs;
/** For how long people can look at what they decided; after that it is in the audit trail alone. */
const approvalMs = 30 * 24 * hourMs;

/** Takes away what has had its time, at the start and every hour. Several servers may do so at once. */
export function startSweeping(options: SweepOptions): Disposable {
  const { records, now, sessionIdleMs, removalMs, closeStale, closeGone, onFailure } = options;
  const before = (ageMs: number) => new Date(now().getTime() - ageMs).toISOString();
  const sweep = () =>
    records
      .change(async ({ sessions, requests, approvals, removals }) => {
        await sessions.removeIdle(before(sessionIdleMs));
        await requests.removeBefore(before(requestMs));
        await approvals.removeBefore(before(approvalMs));
        await removals.removeBefore(before(removalMs));
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
