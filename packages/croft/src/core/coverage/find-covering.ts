import { posix } from 'node:path';
import { includesLine } from '../../lib/coverage/line-ranges.ts';
import type { MeasuredTest } from '../checks/check-results.ts';
import type { Files } from '../files.ts';
import type { Workspace } from '../workspace.ts';

export interface Covering {
  /** As it is called in this workspace. */
  readonly file: string;
  readonly hasCoverage: boolean;
  /** Test files, sorted. */
  readonly tests: readonly string[];
  /** Those of them, and of the file itself, that are not what was measured any more. */
  readonly changed: readonly string[];
  /** Tests that ran the file, but in a form whose lines are not known. */
  readonly inexact: readonly string[];
  /** How many test files nothing is known of. */
  readonly notMeasured: number;
}

/** Which test files ran a line, or any line when it is 0. */
export async function findCovering(
  { file, line }: { file: string; line: number },
  { checks, files }: Pick<Workspace, 'checks' | 'files'>,
): Promise<Covering> {
  const { coverage } = await checks.results.load();
  const projects = Object.values(coverage);
  const all = projects.flatMap(({ tests }) => Object.entries(tests));
  const now = await files.version(file);
  const path = now?.path ?? posix.normalize(file);
  const running = all.flatMap(([name, test]) => toRunning(name, test, path));
  const found = await Promise.all(
    running.filter(({ lines }) => line === 0 || includesLine(lines, line)).map((one) => withState(one, files)),
  );
  const there = found.filter(({ state }) => state !== 'gone');
  const isOld = running.some(({ version }) => version !== now?.version);
  return {
    file: path,
    hasCoverage: all.length > 0,
    tests: there.map(({ name }) => name).sort(),
    changed: [
      ...(isOld ? [path] : []),
      ...there.flatMap(({ name, state }) => (state === 'changed' ? [name] : [])),
    ].sort(),
    inexact: all.flatMap(([name, { inexact }]) => (inexact.includes(path) ? [name] : [])).sort(),
    notMeasured: projects.reduce((sum, project) => sum + project.notMeasured.length, 0),
  };
}

interface RunningTest {
  readonly name: string;
  readonly testVersion: string;
  /** Of the file that it ran, and the lines of that. */
  readonly version: string;
  readonly lines: string;
}

function toRunning(name: string, { version, sources }: MeasuredTest, path: string): RunningTest[] {
  const source = Object.hasOwn(sources, path) ? sources[path] : undefined;
  return source ? [{ name, testVersion: version, ...source }] : [];
}

async function withState({ name, testVersion }: RunningTest, files: Files) {
  const now = await files.version(name).catch(() => undefined);
  const state = now === undefined ? 'gone' : now.version === testVersion ? 'same' : 'changed';
  return { name, state } as const;
}
