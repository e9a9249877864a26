import { type Summary, summarize } from './statistics.ts';

export interface Side {
  /** Set-up before the measurement. */
  prepare?(round: number): Promise<unknown>;
  /** The measured work. Throws if the answer is wrong. */
  run(round: number): Promise<unknown>;
}

export interface Comparison {
  readonly ours: Side;
  readonly theirs: Side;
  readonly rounds: number;
  /** Rounds before the first that counts. */
  readonly warmUp: number;
}

/** Measures both sides in turn, so that other work of the machine affects both. Rounds are numbered from 0. */
export async function compare({
  ours,
  theirs,
  rounds,
  warmUp,
}: Comparison): Promise<{ ours: Summary; theirs: Summary }> {
  const times = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round < warmUp + rounds; round++) {
    const oursMs = await time(ours, round);
    const theirsMs = await time(theirs, round);
    if (round < warmUp) continue;
    times.ours.push(oursMs);
    times.theirs.push(theirsMs);
  }
  return { ours: summarize(times.ours), theirs: summarize(times.theirs) };
}

async function time(side: Side, round: number): Promise<number> {
  await side.prepare?.(round);
  const startedAt = performance.now();
  await side.run(round);
  return performance.now() - startedAt;
}
