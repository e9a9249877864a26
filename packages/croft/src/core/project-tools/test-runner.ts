import type { Argv } from '../projects/profile.ts';

export interface TestFailure {
  /** The full name as the test runner shows it, with all levels. */
  readonly name: string;
  /** Path from the project root, if it is known. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly message: string;
  /** Expected against actual, if that adds to the message. */
  readonly diff?: string | undefined;
  /** The selector with which the test runner finds exactly this test again, if the name is not enough. */
  readonly id?: string | undefined;
  /** Not a test, but an error that kept tests from running. To repeat it is to run all of those tests. */
  readonly isBuild?: true | undefined;
}

/**
 * - `passed`: tests ran and all passed. Nothing else is green.
 * - `failed`: some ran and failed.
 * - `empty`: the runner found no tests.
 * - `broken`: it could not run them all: a build error, a crash, a wrong setting.
 * - `unreadable`: it said something that is not understood.
 */
type TestState = 'passed' | 'failed' | 'empty' | 'broken' | 'unreadable';

export interface TestReport {
  readonly state: TestState;
  /** `null` if the test runner does not say. */
  readonly passed: number | null;
  readonly failed: number;
  readonly skipped: number | null;
  readonly failures: readonly TestFailure[];
  /** Why the result is broken or unreadable. */
  readonly reason?: string | undefined;
  /** The test files that ran, from the project root, if the test runner says. */
  readonly ranFiles?: readonly string[] | undefined;
}

export interface TestRequest {
  /** Requested files, from the project root. Empty: all. */
  readonly files: readonly string[];
  /** Files, directories or patterns that the project's script names, for a request without files. */
  readonly named?: readonly string[] | undefined;
  /** A part of a test's name. Taken literally, never as a pattern or an option. */
  readonly name?: string | undefined;
  /** Repeats exactly these failures of an earlier report of the same test runner. */
  readonly again?: readonly TestFailure[] | undefined;
  /**
   * A path in the sandbox's temporary directory where the test runner may write its report: a file, or a directory of
   * files.
   */
  readonly reportFile: string;
}

/** Output of a check program. Hostile, and cut if it was very long. */
export interface CheckOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  /** Contents of `reportFile`, or of the files that `reports` names, joined by newlines. */
  readonly report?: string | undefined;
  /** Output of the test runner's `followUp` command. */
  readonly followUpOutput?: string | undefined;
  /** A part of the output is missing. Then nothing in it proves a pass. */
  readonly isCut: boolean;
  /** The project directory as programs see it, to make paths relative. */
  readonly directory: string;
}

/** The report files of a test runner in a project: below any directory of this name, with this suffix. */
export interface ReportLocation {
  readonly directory: string;
  readonly suffix: string;
}

/** Ways to select a part of the tests. */
export type TestSelection = 'files' | 'name';

/**
 * A test runner: builds its command and reads its output. Its functions are pure and never throw, whatever they are
 * given.
 */
export interface TestRunner {
  readonly name: string;
  /** Builds the whole command for a request from the profile's command. */
  toArgv(argv: Argv, request: TestRequest): Argv;
  /**
   * The selections that this command cannot honour. Left out: `files`, if the command has no `$FILES`. Such a request
   * is rejected: a run of other tests proves nothing about the requested ones.
   */
  cannotPick?(argv: Argv): readonly TestSelection[];
  /**
   * The test runner selects tests by class and derives the class from the file name. With several files it would skip
   * one without such a class and report the others as passed, so it takes one file per run.
   */
  readonly takesOneFile?: true;
  /** Why all tests run when these are to be repeated; `undefined` if only these run. */
  whyAllTestsRerun?(again: readonly TestFailure[], argv: Argv): string | undefined;
  /** Some versions take files only, no patterns. */
  readonly takesOnlyFiles?: true;
  /** Additional environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Commands that must succeed first, such as a build that the test runner does not do itself. */
  before?(argv: Argv): readonly Argv[];
  /** A command to run after failed tests, if their output alone cannot be read. */
  readonly followUp?: Argv | undefined;
  /** For test runners whose report path cannot be chosen. Only reports that the run has written count. */
  readonly reports?: ReportLocation | undefined;
  read(output: CheckOutput): TestReport;
}

export function defineTestRunner(runner: TestRunner): TestRunner {
  return runner;
}
