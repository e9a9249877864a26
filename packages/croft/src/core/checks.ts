import { AppError } from '@croft/protocol';
import type { CheckResults } from './check-results.ts';
import type { Linter } from './linter.ts';
import { pickProjects } from './pick-projects.ts';
import type { Detector, Profile } from './profile.ts';
import type { TestRunner } from './test-runner.ts';

/** What a workspace's projects are, and the tools that know how to ask them. */
export interface Checks {
  projects(): Promise<readonly Profile[]>;
  pick(choice: { language?: string | undefined; path?: string | undefined }): Promise<readonly Profile[]>;
  runner(name: string): TestRunner;
  linter(name: string): Linter;
  readonly results: CheckResults;
}

export interface ChecksOptions {
  readonly projects: () => Promise<readonly Profile[]>;
  readonly detectors: readonly Detector[];
  readonly runners: readonly TestRunner[];
  readonly linters: readonly Linter[];
  readonly results: CheckResults;
}

export function createChecks({ projects, detectors, runners, linters, results }: ChecksOptions): Checks {
  const runnersByName = new Map(runners.map((runner) => [runner.name, runner]));
  const lintersByName = new Map(linters.map((linter) => [linter.name, linter]));
  return {
    projects,
    results,
    pick: async (choice) => pickProjects({ profiles: await projects(), detectors, ...choice }),
    runner: (name) => runnersByName.get(name) ?? unknownTool(name),
    linter: (name) => lintersByName.get(name) ?? unknownTool(name),
  };
}

function unknownTool(name: string): never {
  throw new AppError('E_INVALID_INPUT', `the output of ${name} cannot be read here; run it with bash`);
}
