import { AppError } from '@croft/protocol';
import { releaseWhenClosed } from '../../core/commands/release-when-closed.ts';
import type { Sandbox } from '../../core/commands/sandbox.ts';
import type { AccountStorage } from '../../core/quota/quota-guard.ts';
import type { HistoryShare } from '../workspaces/workspace-histories.ts';

/** Limits per account. */
interface AccountQuotaLimits {
  /** Sandboxes that are open at once on this server. */
  readonly sandboxes: number;
  /** Bytes in all workspaces together, with their caches, forks and histories. */
  readonly storageBytes: number;
}

export interface AccountUsage {
  /** Bytes of everything that the account stores. */
  bytes: number;
  /** Bytes of histories alone. */
  historyBytes: number;
}

interface AccountQuotaOptions {
  readonly limits: AccountQuotaLimits;
  /** Measures what an account stores on this machine. May take long. */
  measure(accountId: string): Promise<AccountUsage>;
  readonly now: () => number;
  /** Counts the sandboxes of all servers. Absent: this is the only server. */
  readonly counts?: SandboxCounter | undefined;
  /**
   * Ends one sandbox of the account that is not in use. Returns whether it found one. Absent: no sandbox can be ended
   * so.
   */
  readonly makePlace?: ((accountId: string) => Promise<boolean>) | undefined;
}

/** Counts the open sandboxes of each account. */
export interface SandboxCounter {
  /** Counts one more, unless the account has `most` already. Returns whether it did. */
  reserve(accountId: string, most: number): Promise<boolean>;
  release(accountId: string): void;
}

export type AccountQuota = ReturnType<typeof createAccountQuota>;

/** A measurement is valid for this long. The sandbox limits what commands write in the meantime. */
const staleMs = 30_000;
/** Share of the storage limit that histories may take: old history is dropped before files run out of space. */
const historyPart = 1 / 4;
const parts = 'files, package caches, forks and histories of its workspaces';

/** Counts how much of this machine each account uses, and enforces the limits. */
export function createAccountQuota({ limits, measure, now, counts, makePlace }: AccountQuotaOptions) {
  const measurements = new Map<string, Promise<void>>();
  const used = new Map<string, AccountUsage & { at: number }>();

  const { openSandbox, suspendAll } = createSandboxLimiter({ most: limits.sandboxes, counts, makePlace });
  return { openSandbox, suspendAll, storageOf, historyShare };

  /** A planned write counts at once, as if the last measurement had included it. */
  function storageOf(accountId: string): AccountStorage {
    const left = () => limits.storageBytes - (used.get(accountId)?.bytes ?? 0);
    return {
      ready: () => refreshUsage(accountId),
      left,
      mustHave(bytes) {
        if (bytes <= left()) return;
        const total = limits.storageBytes - left() + bytes;
        throw full(
          'storage',
          `this account would store ${total} bytes, and its limit is ${limits.storageBytes}: ${parts}`,
        );
      },
      invalidate: () => void used.delete(accountId),
      charge(bytes) {
        const latest = used.get(accountId);
        if (latest) latest.bytes += bytes;
      },
    };
  }

  /** Before the first measurement the size of the histories is unknown and counts as 0. */
  function historyShare(accountId: string): HistoryShare {
    const max = limits.storageBytes * historyPart;
    return {
      ...{ accountId, max },
      left: () => max - (used.get(accountId)?.historyBytes ?? 0),
      charge(bytes) {
        const latest = used.get(accountId);
        if (latest) [latest.bytes, latest.historyBytes] = [latest.bytes + bytes, latest.historyBytes + bytes];
      },
    };
  }

  async function refreshUsage(accountId: string): Promise<void> {
    const known = used.get(accountId);
    if (known && now() - known.at <= staleMs) return;
    const looking = measureOnce(accountId);
    if (known) void looking.catch(() => {});
    else await looking;
  }

  /** Only one measurement of an account runs at a time. */
  function measureOnce(accountId: string): Promise<void> {
    const known = measurements.get(accountId);
    if (known) return known;
    const looking = measure(accountId)
      .then((measured) => void used.set(accountId, { ...measured, at: now() }))
      .finally(() => measurements.delete(accountId));
    measurements.set(accountId, looking);
    return looking;
  }
}

/** Limits how many sandboxes each account has open at once. */
function createSandboxLimiter({
  most,
  counts = createLocalCounts(),
  makePlace = async () => false,
}: Pick<AccountQuotaOptions, 'counts' | 'makePlace'> & { readonly most: number }) {
  const open = new Set<Sandbox>();
  const reserve = (accountId: string) => counts.reserve(accountId, most);
  return {
    async openSandbox(accountId: string, opening: () => Promise<Sandbox>): Promise<Sandbox> {
      if (!(await reserve(accountId)) && !((await makePlace(accountId)) && (await reserve(accountId))))
        throw full('sandboxes', `this account has ${most} sandboxes open, which is its limit`);
      const sandbox = await releaseWhenClosed(opening, () => counts.release(accountId));
      open.add(sandbox);
      const forget = () => void open.delete(sandbox);
      sandbox.closed.then(forget, forget);
      return sandbox;
    },
    /** Stops the programs in all sandboxes that can be stopped, until the returned function is called. */
    suspendAll(): () => void {
      const resumes = [...open].map((sandbox) => sandbox.suspend?.());
      return () => resumes.forEach((resume) => void resume?.());
    },
  };
}

/** Counts the sandboxes of the only server. */
function createLocalCounts(): SandboxCounter {
  const open = new Map<string, number>();
  return {
    async reserve(accountId, most) {
      const count = open.get(accountId) ?? 0;
      if (count < most) open.set(accountId, count + 1);
      return count < most;
    },
    release(accountId) {
      const left = (open.get(accountId) ?? 1) - 1;
      if (left > 0) open.set(accountId, left);
      else open.delete(accountId);
    },
  };
}

function full(limit: string, message: string): AppError {
  return new AppError('E_QUOTA', message, { details: { limit } });
}
