import type { RunnerState } from '../../core/runners/runner.ts';
import type { Peer } from '../../link/calls/peer.ts';

/** The link to one runner. It outlives its connections. */
export interface RunnerLink {
  /** Unique. */
  readonly id: string;
  readonly peer: Peer;
  /** Capabilities of this runner beyond those that every runner has. */
  readonly capabilities: readonly string[];
  state(): RunnerState;
  onState(listener: (state: RunnerState) => void): void;
  lastSeenAt(): Date;
  /** Ends the link and everything on it. */
  close(reason: string): void;
}
