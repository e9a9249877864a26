import type { NetworkPolicy } from '../network-policy.ts';
import type { Denial, SandboxLimits } from '../sandbox.ts';

/** A line of a program's output that may tell of a refusal. */
export interface Line {
  readonly text: string;
  /** A little of what was printed before it: some programs say there what they were about to do. */
  readonly before: string;
}

/** What holds in the sandbox the line comes from. */
export interface Fence {
  readonly workspacePath: string;
  /** Whether the kernel hides files and holds them read-only here. */
  readonly holdsFiles: boolean;
  readonly network: NetworkPolicy['mode'];
  readonly limits?: SandboxLimits | undefined;
}

/** What a line tells of, if anything. An empty target when it does not say what of. */
export type ExplainLine = (line: Line, fence: Fence) => Denial | undefined;
