import type { Argv } from '../projects/profile.ts';

export interface TestFailure {
  /** As the runner shows it, every level of it. */
  readonly name: string;
  /** From the root of the project, if it is known. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly message: string;
  /** Expected against actual, if there is more to see than in the message. */
  readonly diff?: string | undefined;
  /** What the runner needs besides to run just this one again. */
  readonly id?: string | undefined;
  /** No test, but an error that kept tests from running. To run it again is to run all that it kept from running. */
  readonly isBuild?: true | undefined;
}

/**
 * - `passed`: tests ran and all passed. Nothing else is green.
 * - `failed`: some ran and failed.
 * - `empty`: the runner found no tests.
 * - `broken`: it could not run them all: a build error, a crash, a wrong setting.
 * - `unreadable`: it said something that is not understood.
 */
export type TestState = 'passed' | 'failed' | 'empty' | 'broken' | 'unreadable';

export interface TestReport {
  readonly state: TestState;
  /** `null` where the runner does not say. */
  readonly passed: number | null;
  readonly failed: number;
  readonly skipped: number | null;
  readonly failures: readonly TestFailure[];
  /** Why it is broken or unreadable. */
  readonly reason?: string | undefined;
  /** The test files that were run, from the root of the project, where the runner says. */
  readonly ranFiles?: readonly string[] | undefined;
}

export interface TestRequest {
  /** From the root of the project; none are all. */
  readonly files: readonly string[];
  /** What the project's own script names, where no files are asked for; as it is, and not always files. */
  readonly named?: readonly string[] | undefined;
  /** A part of a test's name, taken as it is and never as a pattern or an option. */
  readonly name?: string | undefined;
  /** Exactly these, from an earlier report of the same runner. */
  readonly again?: readonly TestFailure[] | undefined;
  /** A path in the sandbox's `/tmp` where the runner may write its report: a file, or a directory of them. */
  readonly reportFile: string;
}

/** What a program said. Hostile, and cut when it was very long. */
export interface CheckOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  /** What is in `reportFile`, or in the files that `reports` names, joined by line ends. */
  readonly report?: string | undefined;
  /** What was said to the runner's `question`. */
  readonly answer?: string | undefined;
  /** Whether the beginning or the end of any of it is missing. Then nothing in it proves that all is well. */
  readonly isCut: boolean;
  /** The directory of the project as programs see it, to make paths relative by. */
  readonly directory: string;
}

/** Where a runner leaves reports in a project, at any depth: a directory, or those in it, and the end of their names. */
export interface ReportPlace {
  readonly directory: string;
  readonly suffix: string;
}

/** What a request may narrow a run to. */
export type Picked = 'files' | 'name';

/** One test runner: how to ask it, and how to read what it answers. Pure, and never throws, whatever it is given. */
export interface TestRunner {
  readonly name: string;
  /** The whole command for a request, made from the profile's. */
  toArgv(argv: Argv, request: TestRequest): Argv;
  /**
   * What of a request it cannot keep to when it is called so; by default files, where there is no place for them. Such
   * a request is refused: a run of other tests proves nothing of those that were asked for.
   */
  cannotPick?(argv: Argv): readonly Picked[];
  /**
   * It picks tests by the names of their classes, which it makes of the names of files: of several, one that has no such
   * class is passed over, and the others are green. So it is asked for one.
   */
  readonly takesOneFile?: true;
  /** Some versions of it take files and no patterns of them. */
  readonly takesOnlyFiles?: true;
  /** Variables it needs besides. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What must have gone well before, such as the build of what is tested, where the runner does not see to it. */
  before?(argv: Argv): readonly Argv[];
  /** Asked after a run whose tests failed, where reading it takes more than it says. */
  readonly question?: Argv | undefined;
  /** For those that cannot be told another place. Only what a run has written counts. */
  readonly reports?: ReportPlace | undefined;
  read(output: CheckOutput): TestReport;
}

export function defineTestRunner(runner: TestRunner): TestRunner {
  return runner;
}
