import type { Argv } from './profile.ts';
import type { CheckOutput } from './test-runner.ts';

export interface Finding {
  /** From the root of the project. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Empty where the tool has none. */
  readonly rule: string;
  readonly message: string;
  readonly severity: 'error' | 'warning' | 'info';
}

/** As of tests: only `clean` is green. */
export type LintState = 'clean' | 'findings' | 'broken' | 'unreadable';

export interface LintReport {
  readonly state: LintState;
  readonly findings: readonly Finding[];
  /** Why it is broken or unreadable. */
  readonly reason?: string | undefined;
}

/** One linter, compiler or type checker. Pure, and never throws, whatever it is given. */
export interface Linter {
  readonly name: string;
  /** The whole command for these files, from the root of the project; none are all. */
  toArgv(argv: Argv, files: readonly string[]): Argv;
  read(output: CheckOutput): LintReport;
}

export function defineLinter(linter: Linter): Linter {
  return linter;
}

/** In place of `$FILES`, or nothing there. */
export function withFiles(argv: Argv, files: readonly string[], fallback: readonly string[] = []): Argv {
  const [program, ...rest] = argv;
  const given = files.length > 0 ? files.map(notAnOption) : fallback;
  return [program, ...rest.flatMap((argument) => (argument === '$FILES' ? given : [argument]))];
}

/** A file may be called `--output=x`. */
function notAnOption(file: string): string {
  return file.startsWith('-') ? `./${file}` : file;
}
