import { AppError } from '@croft/protocol';
import type { HistoryQuota } from '../../core/history/ports/history-store.ts';
import { readFreeBytes } from '../../lib/disk-space/free-space.ts';

export interface HistoryLimits {
  /** Limit for the history of one workspace. */
  readonly maxBytes: number;
  /** With less free disk space than this, the history stores nothing more. */
  readonly minFreeBytes: number;
}

export const defaultHistoryLimits: HistoryLimits = { maxBytes: 2 * 1024 ** 3, minFreeBytes: 512 * 1024 ** 2 };

interface HistoryQuotaOptions {
  /** The directory of the history. */
  readonly directory: string;
  readonly limits: HistoryLimits;
  /** Returns the bytes that the history uses. */
  size(): number;
  /** The account that shares the limit. Absent: the history has the limit alone. */
  readonly share?: HistoryShare | undefined;
}

/** The share of storage that all histories of one account have together. */
export interface HistoryShare {
  readonly accountId: string;
  readonly max: number;
  /** Returns the bytes that still fit. */
  left(): number;
  /** Counts bytes that are stored from now on. */
  charge(bytes: number): void;
}

/** How long a measurement is used. Bytes reserved meanwhile are subtracted from it. */
const freshMs = 50;
/** Below this part of a limit, the history has to delete older notes. */
const shortPart = 1 / 4;

/** Measures how much a history may still grow. A disk that cannot be measured counts as full. */
export function createHistoryQuota({ directory, limits, size, share }: HistoryQuotaOptions): HistoryQuota {
  const { maxBytes, minFreeBytes } = limits;
  let [known, knownAt, droppedContents] = [0, Number.NEGATIVE_INFINITY, 0];

  const own = () => ({
    ...{ left: maxBytes - size(), max: maxBytes },
    reason: `it has used its limit of ${maxBytes} bytes (--history-max-bytes)`,
  });
  const ofAccount = () =>
    share
      ? [
          {
            left: share.left(),
            max: share.max,
            reason: 'the histories of this account have used their share of its storage',
          },
        ]
      : [];
  const bounds = () => [own(), ...ofAccount()];
  const floor = () => ({
    ...{ left: readFreeBytes(directory) - minFreeBytes, max: 0 },
    reason: `its disk has less than ${minFreeBytes} bytes free (--history-min-free)`,
  });

  function left(): number {
    const now = performance.now();
    if (now - knownAt < freshMs) return known;
    [known, knownAt] = [Math.min(...[...bounds(), floor()].map((bound) => bound.left)), now];
    return known;
  }

  return {
    bytesLeft: left,
    reserve(bytes) {
      const fits = left() >= bytes;
      if (!fits) droppedContents += 1;
      else {
        known -= bytes;
        share?.charge(bytes);
      }
      return fits;
    },
    isNearlyFull: () => bounds().some(({ left: rest, max }) => rest < max * shortPart),
    isExceeded: () => bounds().some(({ left: rest }) => rest < 0),
    get droppedContents() {
      return droppedContents;
    },
    reason: () => [...bounds(), floor()].sort((one, other) => one.left - other.left)[0]?.reason ?? '',
  };
}

/** The error for a content that somebody asked to store and that does not fit. */
export function historyFull(quota: Pick<HistoryQuota, 'reason'>): AppError {
  return new AppError('E_STORAGE_FULL', `the history of this workspace keeps no more: ${quota.reason()}`);
}
