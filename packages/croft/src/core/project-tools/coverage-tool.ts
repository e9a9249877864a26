import type { Argv } from '../projects/profile.ts';

export interface CoverageRequest {
  /** The project's test command from its profile. */
  readonly argv: Argv;
  /** The test runner's command for this test file alone. */
  readonly runnerArgv: Argv;
  /** Path from the project root. */
  readonly testFile: string;
  readonly testText: string;
  /** A free path in the sandbox's temporary directory, for a file or a directory of coverage data. */
  readonly dataPath: string;
  /** The workspace path as programs see it. */
  readonly workspacePath: string;
}

export interface CoverageCommand {
  readonly argv: Argv;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The lines that one test file executed. Paths are absolute as programs see them, or from the project root. */
export interface ExecutedLines {
  readonly files: ReadonlyMap<string, readonly number[]>;
  /** Files that were executed in a form whose lines are not those of the file. */
  readonly inexact?: readonly string[];
}

export interface CoverageData {
  /** Output of the `toReport` command. Hostile, but complete. */
  readonly text: string;
  readonly request: CoverageRequest;
  /** Reads a file of the workspace by a path as in `ExecutedLines`; `undefined` if it does not exist. */
  readText(path: string): Promise<string | undefined>;
}

/** A coverage tool. Like a test runner, its functions are pure and never throw. */
export interface CoverageTool {
  readonly name: string;
  /** Names of the test tools that it can measure. */
  readonly tools: readonly string[];
  /** Whether a path, from the project root, is a test file. */
  isTestFile(path: string): boolean;
  /** Builds the command that runs one test file; `undefined` if the file has no tests. */
  toRun(request: CoverageRequest): CoverageCommand | undefined;
  /** Builds the command that prints the coverage data. The command fails if there is none. */
  toReport(request: CoverageRequest): Argv;
  /** Returns `undefined` if the data cannot be read. */
  read(data: CoverageData): Promise<ExecutedLines | undefined>;
}

export function defineCoverageTool(tool: CoverageTool): CoverageTool {
  return tool;
}
