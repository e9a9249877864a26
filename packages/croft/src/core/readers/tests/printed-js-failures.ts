import type { TestFailure } from '../../project-tools/test-runner.ts';
import { toRelative } from '../reader-helpers.ts';

/**
 * Reads failed tests from the output that test runners print for people. Names are as in their reports, so that both
 * can be compared.
 */

const maxBlock = 200;
const maxParagraph = 20;

/** Reads `  1) suite`, the further levels of the name below it, the last with a colon, and then the message. */
export function readMochaFailures(text: string, directory: string): TestFailure[] {
  const lines = text.split('\n');
  return lines.flatMap((row, at) => {
    const [, first] = row.match(/^ {2}\d{1,6}\) (.{1,500})$/) ?? [];
    if (first === undefined) return [];
    const block = blockAfter(lines, at + 1, (one) => /^ {2}\d{1,6}\) /.test(one));
    const end = first.endsWith(':') ? -1 : block.findIndex((one) => one.endsWith(':'));
    if (end < 0 && !first.endsWith(':')) return [];
    const name = [first, ...block.slice(0, end + 1)].map((one) => one.trim()).join(' ');
    return [{ name: name.replace(/:$/, ''), ...describeFailure(block.slice(end + 1), undefined, directory) }];
  });
}

/** Reads `FAIL test/a.test.js`, and below it `  ● suite › name`. Long runs print each failure twice. */
export function readJestFailures(text: string, directory: string): TestFailure[] {
  const lines = text.split('\n');
  let file = '';
  const found = lines.flatMap((row, at) => {
    file = row.match(/^FAIL (?:\S{1,100} )?(\S{1,1000})(?: \(.{1,50}\))?$/)?.[1] ?? file;
    const [, title] = row.match(/^ {2}● (.{1,1000})$/) ?? [];
    if (title === undefined || title === 'Console' || file === '') return [];
    const block = blockAfter(lines, at + 1, (one) => /^(?: {2}● |\S)/.test(one));
    const isBuild = title === 'Test suite failed to run';
    const path = toRelative(file, directory);
    const name = isBuild ? path : title.replaceAll(' › ', ' ');
    return [{ name, ...describeFailure(block, path, directory), ...(isBuild && { isBuild: true as const }) }];
  });
  return withoutTwins(found);
}

/**
 * Reads ` FAIL  a.test.js > suite > name` or, for a file that could not be loaded, ` FAIL  a.test.js [ a.test.js ]`.
 */
export function readVitestFailures(text: string, directory: string): TestFailure[] {
  const lines = text.split('\n');
  const heading = /^ FAIL {2}(?:\|.{1,100}\| )?(\S{1,1000})(?: \[ .{1,1000} \])?(?: > (.{1,1000}))?$/;
  const found = lines.flatMap((row, at) => {
    const [, file, title] = row.match(heading) ?? [];
    if (file === undefined) return [];
    // Tests that failed alike stand above the same error.
    const rest = blockAfter(lines, at + 1, (one) => /^⎯/.test(one)).filter((one) => !heading.test(one));
    const path = toRelative(file, directory);
    const name = title?.replaceAll(' > ', ' ') ?? path;
    const isBuild = title === undefined && { isBuild: true as const };
    return [{ name, ...describeFailure(rest, path, directory), ...isBuild }];
  });
  return withoutTwins(found);
}

function blockAfter(lines: readonly string[], start: number, isEnd: (row: string) => boolean): readonly string[] {
  const rest = lines.slice(start, start + maxBlock);
  const end = rest.findIndex(isEnd);
  return end < 0 ? rest : rest.slice(0, end);
}

type DescribedFailure = Pick<TestFailure, 'file' | 'line' | 'message'>;
const stackLocation = /(?:\(|❯ |at |\s)((?:\.{0,2}\/)?[^\s:()]{1,500}\.[cm]?[jt]sx?):(\d{1,9}):\d{1,9}\b/;

/**
 * Returns the first paragraph of a message and the location of the failure: in the test's file, or in the first file of
 * the project.
 */
function describeFailure(block: readonly string[], file: string | undefined, directory: string): DescribedFailure {
  const rows = block.slice(
    Math.max(
      0,
      block.findIndex((row) => row.trim() !== ''),
    ),
  );
  const isEnd = (row: string) => row.trim() === '' || /^\s+(?:at |❯ )/.test(row);
  const end = rows.findIndex(isEnd);
  const message = (end < 0 ? rows : rows.slice(0, end)).slice(0, maxParagraph).map((row) => row.trim());
  const locations = rows.flatMap((row) => {
    const [, path, line] = row.slice(0, 2000).match(stackLocation) ?? [];
    return path === undefined || path.includes('node_modules') ? [] : [{ path: toRelative(path, directory), line }];
  });
  const stop = locations.find(({ path }) => file === undefined || path === file);
  const own = file ?? stop?.path;
  return {
    ...(own !== undefined && { file: own, ...(stop && { line: Number(stop.line) }) }),
    message: message.join('\n') || 'failed',
  };
}

function withoutTwins(failures: readonly TestFailure[]): TestFailure[] {
  return [...new Map(failures.map((one) => [`${one.file} ${one.name}`, one])).values()];
}
