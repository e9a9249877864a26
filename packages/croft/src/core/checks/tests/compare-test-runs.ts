import { z } from 'zod';
import type { TestFailure } from '../../project-tools/test-runner.ts';
import { toProjectPath } from '../../projects/pick-projects.ts';
import type { Profile } from '../../projects/profile.ts';
import type { TestRun } from '../check-results.ts';
import type { TestRunnerCall } from './run-test-runner.ts';

/** How many tests changed their state since the last run. */
export const TestChanges = z.object({
  fixed: z.int().min(0),
  new: z.int().min(0),
  stillFailing: z.int().min(0),
});
export type TestChanges = z.output<typeof TestChanges>;

type Request = TestRunnerCall['request'];

/** The failures of the last run that the request does not cover. They stay until a run proves otherwise. */
export function failuresOutsideRequest(last: TestRun | undefined, request: Request): readonly TestFailure[] {
  return last?.failures.filter((failure) => !failure.isBuild && !isAbout(failure, request)) ?? [];
}

function isAbout(failure: TestFailure, { files, name, again }: Request): boolean {
  if (again) return again.some((one) => keyOf(one) === keyOf(failure));
  const isInFiles =
    files.length === 0 ||
    failure.file === undefined ||
    files.some((file) => file === failure.file || failure.file?.startsWith(`${file}/`) || file.includes('*'));
  return isInFiles && (name === undefined || failure.name.includes(name));
}

/**
 * Compares two runs. Returns `undefined` if a run failed without naming every failed test, or was cut short: a test
 * that did not run is not fixed.
 */
export function compareTestRuns(
  last: TestRun,
  now: TestRun,
  { request, profile }: { readonly request: Request; readonly profile: Profile },
): TestChanges | undefined {
  if (!namesEveryFailure(last) || !namesEveryFailure(now)) return undefined;
  const before = new Set(last.failures.filter((failure) => isAbout(failure, request)).map(keyOf));
  const inProject = ({ file, ...rest }: TestFailure) => ({ ...rest, file: file && toProjectPath(file, profile) });
  const after = new Set(now.failures.map(inProject).map(keyOf));
  const stillFailing = after.intersection(before).size;
  return { fixed: before.size - stillFailing, new: after.size - stillFailing, stillFailing };
}

function namesEveryFailure({ state, failures, failed }: TestRun): boolean {
  return state === 'passed' || (state === 'failed' && failures.length > 0 && failures.length >= failed);
}

function keyOf({ id, name, file }: TestFailure): string {
  return `${file} ${name} ${id ?? ''}`;
}

/** Renders the changes as one line, or no line if nothing changed. */
export function renderTestChanges(changes: TestChanges | undefined): string[] {
  if (!changes || Object.values(changes).every((count) => count === 0)) return [];
  const { fixed, new: added, stillFailing } = changes;
  return [`since the last run: fixed ${fixed}, new ${added}, still failing ${stillFailing}`];
}
