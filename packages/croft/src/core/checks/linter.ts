import type { Argv } from '../projects/profile.ts';
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

/**
 * What an answer is about when some files are asked for:
 * - `files`: those and no others.
 * - `project`: others as well, each looked at whatever is wrong with the rest.
 * - `build`: others as well, and an error in one of them may be why nothing is said of those.
 */
export type LintScope = 'files' | 'project' | 'build';

/** One linter, compiler or type checker. Pure, and never throws, whatever it is given. */
export interface Linter {
  readonly name: string;
  readonly scope: LintScope;
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
  const given = files.length > 0 ? files.map(toPlainName) : fallback;
  return [program, ...rest.flatMap((argument) => (argument === '$FILES' ? given : [argument]))];
}

/** A file may be called `--output=x`, or `@x`, which compilers take for a file of arguments. */
function toPlainName(file: string): string {
  return /^[-@]/.test(file) ? `./${file}` : file;
}

/** Asks for an answer that can be read, where the command does not say how to answer; before a `--`, if there is one. */
export function withOptions(argv: Argv, ...options: readonly string[]): Argv {
  const [program, ...rest] = argv;
  const missing = options.filter((option) => !rest.some((argument) => nameOf(argument) === nameOf(option)));
  const end = rest.indexOf('--');
  return [program, ...rest.toSpliced(end < 0 ? rest.length : end, 0, ...missing)];
}

function nameOf(option: string): string {
  return option.split('=')[0] ?? option;
}
