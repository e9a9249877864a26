import type { Goal } from './goals.ts';
import type { Summary } from './statistics.ts';

/** A named group of measurements. `say` tells a waiting person how far it is. */
export interface Bench {
  readonly name: string;
  run(say: (progress: string) => void): Promise<Report>;
}

export interface Report {
  readonly rows: readonly Row[];
  /** Where it was measured, as far as that is this bench's own: file system, client, version of the peer. */
  readonly about?: Readonly<Record<string, string>>;
}

/** One line of the table. Times are in milliseconds. */
export interface Row {
  readonly what: string;
  /** Left out where there is nobody to compare with. */
  readonly against?: string;
  readonly ours: Summary;
  readonly theirs?: Summary;
  /** p50 of ours by p50 of theirs. */
  readonly ratio?: number;
  readonly goal: string;
  readonly isMet: boolean;
  readonly note?: string;
}

export interface Outcome {
  readonly what: string;
  readonly against?: string;
  readonly ours: Summary;
  readonly theirs?: Summary;
  readonly goal: Goal;
  readonly note?: string;
}

export function toRow({ goal, ...outcome }: Outcome): Row {
  const { ours, theirs } = outcome;
  return {
    ...outcome,
    ...(theirs && { ratio: ours.p50 / theirs.p50 }),
    goal: goal.text,
    isMet: goal.isMet(ours, theirs),
  };
}
