import { z } from 'zod';

/** Something that the sandbox refused while a command ran. */
export const Violation = z.object({
  layer: z.enum(['file', 'limit', 'network', 'system-call']),
  rule: z.string(),
  /** The refused path, host, system call or limit. */
  target: z.string(),
  /** Advice for the caller. */
  next: z.string(),
});
export type Violation = z.output<typeof Violation>;

/** The end of a command, and its output. */
export interface CommandResult {
  /** 124 for a command whose time ran out; `null` if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** A part of the output in the middle is missing. */
  readonly truncated: boolean;
  readonly violations: readonly Violation[];
}

export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}
