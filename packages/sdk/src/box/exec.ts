import { z } from 'zod';
import { toCallSeconds } from './call-seconds.ts';
import { type Command, checked, createCommand } from './command.ts';
import { type OutputChunk, Violation } from './command-result.ts';
import type { ToolCaller } from './tool-caller.ts';

export interface ExecOptions {
  /** Seconds, at most 280. The command is then ended with everything that it started. Default: 280. */
  readonly timeout?: number | undefined;
  /** The directory, from the root of the workspace. */
  readonly cwd?: string | undefined;
  /** Names of secrets of the account to put in the environment of this command alone. */
  readonly secrets?: readonly string[] | undefined;
  /** Throw `E_COMMAND_FAILED` for a command that does not end with 0. */
  readonly check?: boolean | undefined;
  /** Ends the command; the promise rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A line for the shell, or a program and its arguments, which no shell reads. */
export type CommandLine = string | readonly [program: string, ...args: string[]];

const Ended = z.object({
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean(),
  denials: z.array(Violation),
});

export function exec(caller: ToolCaller, line: CommandLine, options: ExecOptions = {}): Command {
  const { check, signal } = options;
  const killed = new AbortController();
  const ending = signal ? AbortSignal.any([signal, killed.signal]) : killed.signal;
  const command = createCommand({
    async run(onOutput) {
      let isFollowed = false;
      const onFollowed = (chunk: OutputChunk) => {
        isFollowed = true;
        onOutput(chunk);
      };
      const result = await caller
        .call('run_command', toInput(line, options), Ended, { signal: ending, onOutput: onFollowed })
        .catch((thrown): z.output<typeof Ended> => {
          if (!killed.signal.aborted || signal?.aborted) throw thrown;
          return wasKilled;
        });
      const { denials: violations, ...ended } = result;
      for (const stream of ['stdout', 'stderr'] as const)
        if (!isFollowed && ended[stream] !== '') onOutput({ stream, text: ended[stream] });
      return checked(toText(line), { ...ended, violations }, check);
    },
    async kill() {
      killed.abort();
      await command.catch(() => {});
    },
  });
  return command;
}

const wasKilled = {
  ...{ exitCode: null, signal: 'SIGKILL', timedOut: false, stdout: '', stderr: '', truncated: true, denials: [] },
};

function toInput(line: CommandLine, { timeout, cwd, secrets }: ExecOptions) {
  const [cmd, ...args] = typeof line === 'string' ? ['bash', '-c', line] : line;
  return {
    cmd,
    args,
    timeout_ms: Math.round(toCallSeconds(timeout) * 1000),
    ...(cwd !== undefined && { cwd }),
    ...(secrets && { secrets }),
  };
}

export function toText(line: CommandLine): string {
  return typeof line === 'string' ? line : line.join(' ');
}
