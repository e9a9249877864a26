import type { RunnerState } from '../../core/runners/runner.ts';
import type { Peer } from '../../link/peer.ts';

/** The link to one runner, which outlives its connections. */
export interface RunnerLink {
  /** No other has it. */
  readonly id: string;
  readonly peer: Peer;
  /** What it knows of besides what every runner does. */
  readonly capabilities: readonly string[];
  state(): RunnerState;
  onState(listener: (state: RunnerState) => void): void;
  lastSeenAt(): Date;
  /** Ends it, and everything on it. */
  close(reason: string): void;
}
