import type { Argv } from '../projects/profile.ts';
import type { CheckOutput } from './test-runner.ts';

export interface Finding {
  /** Path from the project root. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Empty if the tool names no rule. */
  readonly rule: string;
  readonly message: string;
  readonly severity: 'error' | 'warning' | 'info';
}

/**
 * The result of a run. `warnings`: the tool has findings and still exits with success. `broken`: the tool failed.
 * `unreadable`: its output was not understood. Only `clean` and `warnings` count as passed.
 */
export type LintState = 'clean' | 'warnings' | 'findings' | 'broken' | 'unreadable';

export interface LintReport {
  readonly state: LintState;
  readonly findings: readonly Finding[];
  /** Why the result is broken or unreadable. */
  readonly reason?: string | undefined;
}

/**
 * The scope of a report when files are requested:
 * - `files`: the requested files and no others.
 * - `project`: other files too, each checked whatever is wrong with the rest.
 * - `build`: other files too; an error in one of them may keep the requested ones from being checked.
 */
export type LintScope = 'files' | 'project' | 'build';

/** A linter, compiler or type checker. Its functions are pure and never throw, whatever they are given. */
export interface Linter {
  readonly name: string;
  readonly scope: LintScope;
  /**
   * True if the exit code is 0 even with findings, because of the options that Croft adds. Findings are a failure all the same.
   */
  readonly failsOnFindings?: true;
  /** Builds the whole command. `files` are from the project root; empty means all. */
  toArgv(argv: Argv, files: readonly string[]): Argv;
  read(output: CheckOutput): LintReport;
}

export function defineLinter(linter: Linter): Linter {
  return linter;
}

/** Replaces `$FILES` with the files, or with `fallback` if there are none. */
export function withFiles(argv: Argv, files: readonly string[], fallback: readonly string[] = []): Argv {
  const [program, ...rest] = argv;
  const given = files.length > 0 ? files.map(toSafeName) : fallback;
  return [program, ...rest.flatMap((argument) => (argument === '$FILES' ? given : [argument]))];
}

/** Protects names such as `--output=x` and `@x`, which programs take for an option or for a file of arguments. */
function toSafeName(file: string): string {
  return /^[-@]/.test(file) ? `./${file}` : file;
}

/** Adds options for a machine-readable answer unless the command sets them; before a `--`, if there is one. */
export function withOptions(argv: Argv, ...options: readonly string[]): Argv {
  const [program, ...rest] = argv;
  const missing = options.filter((option) => !rest.some((argument) => nameOf(argument) === nameOf(option)));
  const end = rest.indexOf('--');
  return [program, ...rest.toSpliced(end < 0 ? rest.length : end, 0, ...missing)];
}

/**
 * Removes options that would make a tool change files, whoever put them into the command: checks never write. An option
 * in `valued` takes the next word as its value, unless that follows a `=`.
 */
export function withoutOptions(argv: Argv, names: readonly string[], valued: readonly string[] = []): Argv {
  const [program, ...rest] = argv;
  const end = rest.indexOf('--');
  const isOption = (index: number) => end < 0 || index < end;
  const isGone = (argument: string, index: number) => {
    const isValue = index > 0 && isOption(index) && valued.includes(rest[index - 1] ?? '');
    return isOption(index) && (isValue || names.includes(nameOf(argument)) || valued.includes(nameOf(argument)));
  };
  return [program, ...rest.filter((argument, index) => !isGone(argument, index))];
}

function nameOf(option: string): string {
  return option.split('=')[0] ?? option;
}
