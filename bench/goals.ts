import type { Summary } from './statistics.ts';

export interface Goal {
  readonly text: string;
  isMet(ours: Summary, theirs?: Summary): boolean;
}

/** p50 of at most `ratio` times theirs, and `plusMs` more where starting a program is part of the work. */
export function atMostTimes(ratio: number, { plusMs = 0 } = {}): Goal {
  const extra = plusMs === 0 ? '' : ` + ${plusMs} ms`;
  return {
    text: `≤ ${ratio}×${extra}`,
    isMet: (ours, theirs) => theirs !== undefined && ours.p50 <= theirs.p50 * ratio + plusMs,
  };
}

/** p50 and p95 of at most `ratio` times theirs. */
export function atMostTimesAlways(ratio: number): Goal {
  return {
    text: `p50, p95 ≤ ${ratio}×`,
    isMet: (ours, theirs) => theirs !== undefined && ours.p50 <= theirs.p50 * ratio && ours.p95 <= theirs.p95 * ratio,
  };
}

/** p50 of Croft must be shorter than p50 of the peer by this factor. */
export function timesFaster(factor: number): Goal {
  return {
    text: `≥ ${factor}× faster`,
    isMet: (ours, theirs) => theirs !== undefined && ours.p50 * factor <= theirs.p50,
  };
}

/** A limit on Croft's figure, whatever the peer takes. */
export function atMost(limit: number, unit: string, { at = 'p50' as 'p50' | 'p99' } = {}): Goal {
  return { text: `${at} ≤ ${limit} ${unit}`, isMet: (ours) => ours[at] <= limit };
}

/** A figure that should be large. */
export function atLeast(limit: number, unit: string): Goal {
  return { text: `p50 ≥ ${limit} ${unit}`, isMet: ({ p50 }) => p50 >= limit };
}

/** p50 of at least `ratio` times theirs, for figures that should be large. */
export function atLeastTimes(ratio: number): Goal {
  return { text: `≥ ${ratio}×`, isMet: (ours, theirs) => theirs !== undefined && ours.p50 >= theirs.p50 * ratio };
}

/** A limit on p99 as a multiple of p50, whatever the peer takes. */
export function atMostTimesMedian(ratio: number): Goal {
  return { text: `p99 ≤ ${ratio}× p50`, isMet: ({ p50, p99 }) => p99 <= p50 * ratio };
}

/** A count that must be zero. */
export const none: Goal = { text: 'none', isMet: ({ p50 }) => p50 === 0 };

/** A count that must be complete. */
export function allOf(count: number): Goal {
  return { text: `all ${count}`, isMet: ({ min }) => min >= count };
}
