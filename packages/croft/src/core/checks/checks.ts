import { AppError } from '@croft/protocol';
import type { CoverageTool } from '../coverage/coverage.ts';
import { type ProjectChoice, pickProjects } from '../projects/pick-projects.ts';
import type { Detector, Profile } from '../projects/profile.ts';
import type { CheckResults } from './check-results.ts';
import type { Linter } from './linter.ts';
import type { TestRunner } from './test-runner.ts';

/** What a workspace's projects are, and the tools that know how to ask them. */
export interface Checks {
  projects(): Promise<readonly Profile[]>;
  pick(choice: Pick<ProjectChoice, 'language' | 'path' | 'needs'>): Promise<readonly Profile[]>;
  runner(name: string): TestRunner;
  linter(name: string): Linter;
  /** What measures the runs of a test tool; nothing if nobody can. */
  coverageTool(testTool: string): CoverageTool | undefined;
  readonly results: CheckResults;
}

export interface ChecksOptions {
  readonly projects: () => Promise<readonly Profile[]>;
  readonly detectors: readonly Detector[];
  readonly runners: readonly TestRunner[];
  readonly linters: readonly Linter[];
  readonly coverage: readonly CoverageTool[];
  readonly results: CheckResults;
}

export function createChecks(options: ChecksOptions): Checks {
  const { projects, detectors, runners, linters, coverage, results } = options;
  const runnersByName = new Map(runners.map((runner) => [runner.name, runner]));
  const lintersByName = new Map(linters.map((linter) => [linter.name, linter]));
  return {
    projects,
    results,
    pick: async (choice) => pickProjects({ profiles: await projects(), detectors, ...choice }),
    runner: (name) => runnersByName.get(name) ?? unknownTool(name),
    linter: (name) => lintersByName.get(name) ?? unknownTool(name),
    coverageTool: (testTool) => coverage.find(({ tools }) => tools.includes(testTool)),
  };
}

function unknownTool(name: string): never {
  throw new AppError('E_INVALID_INPUT', `the output of ${name} cannot be read here; run it with bash`);
}
