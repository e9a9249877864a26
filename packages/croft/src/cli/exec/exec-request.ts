import type { Box, Client } from '@croft/sdk';
import type { CommandContext } from '../command.ts';

/** A command to run in a workspace. */
export interface ExecRequest {
  readonly box: Box;
  readonly client: Client;
  readonly line: readonly [string, ...string[]];
  readonly cwd: string | undefined;
  readonly secrets: readonly string[] | undefined;
  readonly timeoutSeconds: number;
  /** The command gets the standard input of this program. */
  readonly hasInput: boolean;
  readonly terminal: CommandContext;
}

/** How a command ended. */
export interface ExecEnding {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly denials: readonly { readonly target: string; readonly next: string }[];
}
