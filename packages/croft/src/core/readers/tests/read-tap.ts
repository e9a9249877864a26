import type { TestFailure } from '../../project-tools/test-runner.ts';
import { toRelative } from '../reader-helpers.ts';
import type { CountedTests } from './to-test-report.ts';

const maxDetails = 50;

interface Point {
  readonly isOk: boolean;
  readonly name: string;
  readonly directive: string;
  readonly details: readonly string[];
}

/** Reads the outermost level of the Test Anything Protocol. Returns `undefined` without a plan. */
export function readTap(text: string, directory: string): CountedTests | undefined {
  const lines = text.split('\n');
  const plan = lines.map((line) => line.match(/^1\.\.(\d{1,9})\b/)?.[1]).find((count) => count !== undefined);
  const points = lines.flatMap((line, at) => toPoint(line, lines, at));
  if (plan === undefined) return undefined;
  const skipped = points.filter(({ directive }) => directive !== '');
  const counted = points.filter(({ directive }) => directive === '');
  const failures = counted.filter(({ isOk }) => !isOk).map((point) => toFailure(point, directory));
  const bail = lines.find((line) => line.startsWith('Bail out!'));
  const missing = Number(plan) - points.length;
  const broken = bail ?? (missing > 0 ? `${missing} of ${plan} tests did not run` : undefined);
  const passed = counted.length - failures.length;
  return { passed, failed: failures.length, skipped: skipped.length, failures, broken };
}

function toPoint(line: string, lines: readonly string[], at: number): Point[] {
  const [, verdict, rest = ''] = line.slice(0, 2000).match(/^(ok|not ok)\b(?: \d{1,9})?(?: - | |$)(.*)$/) ?? [];
  if (verdict === undefined) return [];
  const mark = rest.search(/ # (?:skip|todo)\b/i);
  const details = verdict === 'ok' ? [] : detailsOf(lines.slice(at + 1, at + 1 + maxDetails));
  const [name, directive] = mark < 0 ? [rest, ''] : [rest.slice(0, mark), rest.slice(mark)];
  return [{ isOk: verdict === 'ok', name: name.replace(/ # time=\S{1,40}$/, ''), directive, details }];
}

/** Returns the indented lines after a test point. */
function detailsOf(lines: readonly string[]): string[] {
  const end = lines.findIndex((line) => !/^(?: |#)/.test(line));
  return (end < 0 ? lines : lines.slice(0, end)).filter((line) => !/^ *(?:---|\.\.\.)$/.test(line));
}

function toFailure({ name, details }: Point, directory: string): TestFailure {
  const text = details.join('\n');
  const locations = [...text.matchAll(/(?:file:\/\/)?([^\s:'"()]{1,500}\.\w{1,5}):(\d{1,9})/g)];
  const [, path, line] = locations.find(([, location = '']) => !location.includes('node_modules')) ?? [];
  const said = details.find((row) => /^ *(?:message|error): *[^\s'"|>]/.test(row));
  return {
    name,
    ...(path !== undefined && { file: toRelative(path, directory), line: Number(line) }),
    message: said?.replace(/^ *\w+: */, '') || text.trim() || 'failed',
  };
}
