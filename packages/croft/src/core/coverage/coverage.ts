import type { Argv } from '../projects/profile.ts';

export interface CoverageRequest {
  /** The project's command for tests, as its profile has it. */
  readonly argv: Argv;
  /** The same for this test file alone, as its runner has it. */
  readonly runnerArgv: Argv;
  /** From the root of the project. */
  readonly testFile: string;
  readonly testText: string;
  /** A name in the sandbox's `/tmp` that is free, for a file or a directory of data. */
  readonly place: string;
  /** The workspace as programs see it. */
  readonly workspacePath: string;
}

export interface CoverageCommand {
  readonly argv: Argv;
  readonly environment?: Readonly<Record<string, string>>;
}

/** What ran while one test file did. Paths are absolute as programs see them, or from the root of the project. */
export interface LinesThatRan {
  readonly files: ReadonlyMap<string, readonly number[]>;
  /** Files that ran, but in a form whose lines are not those of the file. */
  readonly inexact?: readonly string[];
}

export interface CoverageData {
  /** What `toReport` printed. Hostile, but whole. */
  readonly text: string;
  readonly request: CoverageRequest;
  /** A file of the workspace by a path as in `LinesThatRan`; nothing where there is none. */
  readText(path: string): Promise<string | undefined>;
}

/** One way to know what ran. Pure as runners are, and never throws. */
export interface CoverageTool {
  readonly name: string;
  /** The test tools whose runs it can measure. */
  readonly tools: readonly string[];
  /** By its path from the root of the project. */
  isTestFile(path: string): boolean;
  /** Runs one test file. Nothing where there are no tests in it. */
  toRun(request: CoverageRequest): CoverageCommand | undefined;
  /** Prints what the run left behind, and fails if it left nothing. */
  toReport(request: CoverageRequest): Argv;
  /** Nothing if it cannot be read. */
  read(data: CoverageData): Promise<LinesThatRan | undefined>;
}

export function defineCoverageTool(tool: CoverageTool): CoverageTool {
  return tool;
}
