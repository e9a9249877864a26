import type { CommandResult } from '../box/command-result.ts';
import type { CommandLine } from '../box/exec.ts';

/** A line for bash, with variables that only this command has. */
export function toCommandLine(line: string, env: Readonly<Record<string, string | undefined>> = {}): CommandLine {
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return given.length === 0 ? line : ['env', ...given, 'bash', '-c', line];
}

const signalNumbers: Readonly<Record<string, number>> = {
  ...{ SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGABRT: 6, SIGFPE: 8, SIGKILL: 9, SIGSEGV: 11 },
  ...{ SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15, SIGXCPU: 24, SIGXFSZ: 25 },
};

/** Returns the exit code as a shell reports it: 128 plus the number of the signal for a command that a signal ended. */
export function toExitCode({ exitCode, signal }: Pick<CommandResult, 'exitCode' | 'signal'>): number {
  return exitCode ?? 128 + (signalNumbers[signal ?? ''] ?? 0);
}

/** Returns stderr of the command, with violations of the sandbox and a timeout. */
export function toErrorOutput({ stderr, timedOut, violations }: CommandResult): string {
  const notes = [
    ...(timedOut ? ['croft: the time of this command ran out, and it was ended'] : []),
    ...violations.map(({ target, rule, next }) => `croft: refused by the sandbox: ${target} (${rule}). ${next}`),
  ];
  if (notes.length === 0) return stderr;
  return `${stderr === '' || stderr.endsWith('\n') ? stderr : `${stderr}\n`}${notes.join('\n')}\n`;
}
