import type { CheckOutput } from './test-runner.ts';

/** The program's own launcher says that it is not there, alone and as its first word. Findings never look like this. */
const launchers: readonly RegExp[] = [
  /^\S*python[\d.]*: No module named '?([\w.-]{1,100})'?$/,
  /^error: no such command: `([\w-]{1,100})`/,
  /^error: '([\w-]{1,100})' is not installed for the (?:custom )?toolchain/,
  /^bundler: command not found: ([\w-]{1,100})$/,
  /^\*\* \(Mix\) The task "([\w.]{1,100})" could not be found/,
];
/** What a shell says, and shims that stand in for one. */
const shell = /^(?:[\w./-]{1,200}: (?:line )?(?:\d{1,9}: )?)?([\w./-]{1,200}): (?:command )?not found$/;
const notFound = 127;

/** The program that could not be started by the one that was, or nothing. */
export function findMissing({ stderr, exitCode }: CheckOutput): string | undefined {
  if (exitCode === 0) return undefined;
  const [first = ''] = stderr.trimStart().slice(0, 1000).split('\n');
  const patterns = exitCode === notFound ? [...launchers, shell] : launchers;
  return patterns.map((pattern) => pattern.exec(first.trim())?.[1]).find((name) => name !== undefined);
}
