import type { NetworkPolicy } from '../network-policy.ts';
import type { SandboxDenial, SandboxLimits } from '../sandbox.ts';

/** A line of output that may show a denial. */
export interface OutputLine {
  readonly text: string;
  /** The text before the line: some programs announce there what they are about to do. */
  readonly before: string;
}

/** The rules of the sandbox that printed the line. */
export interface SandboxRules {
  readonly workspacePath: string;
  /** Whether the kernel hides files and makes some read-only in this sandbox. */
  readonly guardsFiles: boolean;
  readonly network: NetworkPolicy['mode'];
  readonly limits?: SandboxLimits | undefined;
}

/** Explains the denial that a line shows, if any. The target is empty if the line does not name it. */
export type ExplainLine = (line: OutputLine, fence: SandboxRules) => SandboxDenial | undefined;
