import type { Goal } from './goals.ts';
import type { Summary } from './statistics.ts';

/** A named group of measurements. `say` tells a waiting person how far it is. */
export interface Bench {
  readonly name: string;
  run(say: Say, only: Selection): Promise<Report>;
}

/** The part of a bench that a person asked for. A bench that has no sizes, or no rows to choose from, runs whole. */
export interface Selection {
  /** Sizes of trees. Left out: all. */
  readonly sizes?: readonly number[];
  /** Parts of the names of rows. Left out: all. */
  readonly rows?: readonly string[];
}

export function isWanted(what: string, { rows }: Selection): boolean {
  return rows === undefined || rows.some((part) => what.includes(part));
}

export type Say = (progress: string) => void;

export interface Report {
  readonly rows: readonly Row[];
  /** Conditions of this bench: file system, client, version of the peer. */
  readonly about?: Readonly<Record<string, string>>;
}

/** One line of the table. */
export interface Row {
  readonly what: string;
  /** Absent if there is no peer to compare with. */
  readonly against?: string;
  /** Unit of all figures in the row. Default: milliseconds. */
  readonly unit?: string;
  /** Absent if the figure could not be measured; then `note` says why. */
  readonly ours?: Summary;
  readonly theirs?: Summary;
  /** p50 of Croft divided by p50 of the peer. */
  readonly ratio?: number;
  /** Absent for a figure without a goal. */
  readonly goal?: string;
  /** Absent without a goal, or if the figure was not measured. */
  readonly isMet?: boolean;
  readonly note?: string;
}

export interface Outcome {
  readonly what: string;
  readonly against?: string;
  readonly unit?: string;
  readonly ours: Summary;
  readonly theirs?: Summary;
  readonly goal?: Goal;
  readonly note?: string;
}

export function toRow({ goal, ...outcome }: Outcome): Row {
  const { ours, theirs } = outcome;
  return {
    ...outcome,
    ...(theirs && theirs.p50 !== 0 && { ratio: ours.p50 / theirs.p50 }),
    ...(goal && { goal: goal.text, isMet: goal.isMet(ours, theirs) }),
  };
}

/** A line for what this machine cannot show. */
export function toUnmeasuredRow(line: { what: string; against?: string; goal: Goal }, reason: string): Row {
  return { ...line, goal: line.goal.text, note: `not measured: ${reason}` };
}
