import { posix } from 'node:path';
import { includesLine } from '../../lib/coverage/line-ranges.ts';
import type { MeasuredTest } from '../checks/check-results.ts';
import type { Files } from '../files/files.ts';
import type { Workspace } from '../workspace/workspace.ts';

export interface CoveringTests {
  /** Path of the file in this workspace. */
  readonly file: string;
  readonly hasCoverage: boolean;
  /** Test files, sorted. */
  readonly tests: readonly string[];
  /** The tests, and the file itself, that changed since they were measured. */
  readonly changed: readonly string[];
  /** Tests that executed the file in a form whose lines are unknown. */
  readonly inexact: readonly string[];
  /** Number of test files that were not measured. */
  readonly notMeasured: number;
}

/** Finds the test files that executed a line, or any line if `line` is 0. */
export async function findCoveringTests(
  { file, line }: { file: string; line: number },
  { checks, files }: Pick<Workspace, 'checks' | 'files'>,
): Promise<CoveringTests> {
  const { coverage } = await checks.results.load();
  const projects = Object.values(coverage);
  const all = projects.flatMap(({ tests }) => Object.entries(tests));
  const now = await files.version(file);
  const path = now?.path ?? posix.normalize(file);
  const running = all.flatMap(([name, test]) => toExecutingTests(name, test, path));
  const found = await Promise.all(
    running.filter(({ lines }) => line === 0 || includesLine(lines, line)).map((one) => withState(one, files)),
  );
  const existing = found.filter(({ state }) => state !== 'gone');
  const isOld = running.some(({ version }) => version !== now?.version);
  return {
    file: path,
    hasCoverage: all.length > 0,
    tests: existing.map(({ name }) => name).sort(),
    changed: [
      ...(isOld ? [path] : []),
      ...existing.flatMap(({ name, state }) => (state === 'changed' ? [name] : [])),
    ].sort(),
    inexact: all.flatMap(([name, { inexact }]) => (inexact.includes(path) ? [name] : [])).sort(),
    notMeasured: projects.reduce((sum, project) => sum + project.notMeasured.length, 0),
  };
}

interface ExecutingTest {
  readonly name: string;
  readonly testVersion: string;
  /** Version of the executed file, and its lines. */
  readonly version: string;
  readonly lines: string;
}

function toExecutingTests(name: string, { version, sources }: MeasuredTest, path: string): ExecutingTest[] {
  const source = Object.hasOwn(sources, path) ? sources[path] : undefined;
  return source ? [{ name, testVersion: version, ...source }] : [];
}

async function withState({ name, testVersion }: ExecutingTest, files: Files) {
  const now = await files.version(name).catch(() => undefined);
  const state = now === undefined ? 'gone' : now.version === testVersion ? 'same' : 'changed';
  return { name, state } as const;
}
