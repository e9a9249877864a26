import { AppError } from '@croft/protocol';
import type { CoverageTool } from '../project-tools/coverage-tool.ts';
import type { Linter } from '../project-tools/linter.ts';
import type { TestRunner } from '../project-tools/test-runner.ts';
import { type ProjectChoice, pickProjects } from '../projects/pick-projects.ts';
import type { Detector, Profile } from '../projects/profile.ts';
import type { CheckResults } from './check-results.ts';

/** Looks up the projects of a workspace and the tools that check them. Runs nothing. */
export interface CheckRegistry {
  projects(): Promise<readonly Profile[]>;
  pick(choice: Pick<ProjectChoice, 'language' | 'path' | 'needs'>): Promise<readonly Profile[]>;
  testRunner(name: string): TestRunner;
  linter(name: string): Linter;
  /** The coverage tool for a test tool, or `undefined` if none measures it. */
  coverageTool(testTool: string): CoverageTool | undefined;
  readonly results: CheckResults;
}

interface CheckRegistryOptions {
  readonly projects: () => Promise<readonly Profile[]>;
  readonly detectors: readonly Detector[];
  readonly testRunners: readonly TestRunner[];
  readonly linters: readonly Linter[];
  readonly coverage: readonly CoverageTool[];
  readonly results: CheckResults;
}

export function createCheckRegistry(options: CheckRegistryOptions): CheckRegistry {
  const { projects, detectors, testRunners, linters, coverage, results } = options;
  const runnersByName = new Map(testRunners.map((runner) => [runner.name, runner]));
  const lintersByName = new Map(linters.map((linter) => [linter.name, linter]));
  return {
    projects,
    results,
    pick: async (choice) => pickProjects({ profiles: await projects(), detectors, ...choice }),
    testRunner: (name) => runnersByName.get(name) ?? unknownTool(name),
    linter: (name) => lintersByName.get(name) ?? unknownTool(name),
    coverageTool: (testTool) => coverage.find(({ tools }) => tools.includes(testTool)),
  };
}

function unknownTool(name: string): never {
  throw new AppError('E_INVALID_INPUT', `Croft cannot read the output of ${name}`, { hint: 'Run it with bash.' });
}
