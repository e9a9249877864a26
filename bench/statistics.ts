/** The distribution of one side's figures: times in milliseconds, unless the row has another unit. */
export interface Summary {
  /** Time of the work on an idle machine. */
  readonly min: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly rounds: number;
}

export function summarize(figures: readonly number[]): Summary {
  const sorted = figures.toSorted((a, b) => a - b);
  // Nearest rank: always a figure that was measured.
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { min: at(0), p50: at(0.5), p95: at(0.95), p99: at(0.99), rounds: sorted.length };
}
