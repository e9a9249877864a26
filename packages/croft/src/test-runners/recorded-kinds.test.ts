import { describe, expect, test } from 'vitest';
import { outputOf, runnerOf } from '../../test/support/test-reports.ts';
import type { TestFailure, TestReport } from '../core/project-tools/test-runner.ts';

/** More recordings than every test runner has: other versions, other options, and programs that crash. */
const read = (name: string, kind: string): TestReport => runnerOf(name).read(outputOf(name, kind));

const sumsOf = ({ state, passed, failed, skipped }: TestReport) => [state, passed, failed, skipped];
const locationsOf = ({ failures }: TestReport) =>
  failures.map(({ name, file, line }: TestFailure) => (file ? `${name} @ ${file}:${line}` : name)).sort();

test.each([
  ['swift-test', 'crash', ['failed', 1, 1, 0], ['BTests.testCrashes @ Tests/SumsTests/SumsTests.swift:13']],
  ['swift-test', 'crash-of-testing', ['failed', 1, 1, 2], ['crashes() @ Tests/SumsTests/SumsTests.swift:12']],
  // The runner itself says that all three passed.
  ['zig-test', 'crash', ['failed', 0, 1, 0], ['root.test.panics @ src/root.zig:8']],
  ['zig-test', 'crash-in-brackets', ['failed', 2, 1, 0], ['root.test.panics @ src/root.zig:8']],
  ['zig-test', 'alone-crash', ['failed', 0, 1, 0], ['root.test.panics @ src/root.zig:8']],
  ['dotnet-test', 'crash', ['broken', 0, 0, 0], []],
  ['mix-test', 'invalid', ['broken', 0, 0, 0], []],
])('%s: a run that ended normally is not called empty: %s', (name, kind, sums, locations) => {
  const report = read(name, kind);
  expect(sumsOf(report)).toEqual(sums);
  expect(locationsOf(report)).toEqual(locations);
  const said = [report.reason ?? '', ...report.failures.map(({ message }) => message)].join('\n');
  expect(said).toMatch(/Unexpectedly found nil|it ends here|process crashed|their set-up failed/);
});

describe('Swift Testing', () => {
  const report = read('swift-test', 'testing');

  test('each test counts once, also with arguments, and a known issue is not a failure', () => {
    expect(sumsOf(report)).toEqual(['failed', 2, 4, 1]);
    expect(locationsOf(report)).toEqual([
      '"one and one are three" @ SumsTests.swift:11',
      'each(_:) @ SumsTests.swift:15',
      'fails() @ SumsTests.swift:26',
      'requires() @ SumsTests.swift:32',
    ]);
    expect(report.failures[0]?.message).toBe('Expectation failed: (n → 2) != 2\nExpectation failed: (n → 2) < 2');
    expect(report.failures[1]?.message).toContain('one and one');
  });

  test('tests with a title cannot be selected, so all are run again', () => {
    const request = { files: [], reportFile: '', again: report.failures };
    expect(runnerOf('swift-test').toArgv(['swift', 'test'], request)).toEqual(['swift', 'test']);
    const named = { ...request, again: report.failures.filter(({ name }) => !name.startsWith('"')) };
    expect(runnerOf('swift-test').toArgv(['swift', 'test'], named)).toContain('[./]each\\(_:\\)(/|$)');
  });
});

test('a link error is reported with its message', () => {
  expect(read('swift-test', 'linking')).toMatchObject({
    state: 'broken',
    reason: expect.stringContaining('link command failed'),
  });
});

test.each([
  ['in-brackets', ['failed', 1, 3, 1], 3],
  ['leak-in-brackets', ['failed', 1, 1, 0], 1],
  ['logged', ['failed', 1, 1, 0], 1],
  ['alone', ['failed', 1, 3, 1], 2],
])('Zig: %s', (kind, sums, count) => {
  const report = read('zig-test', kind);
  expect(sumsOf(report)).toEqual(sums);
  expect(report.failures).toHaveLength(count);
  for (const { message } of report.failures) expect(message).toMatch(/expected 3, found 2|Trouble|leaked|\(err\): bad/);
});

test('Zig: output of a test is not taken for a result', () => {
  expect(sumsOf(read('zig-test', 'alone-printing'))).toEqual(['passed', 2, 0, 0]);
});

test('.NET: two projects leave two reports, the first without a newline at its end', () => {
  expect(sumsOf(read('dotnet-test', 'two-projects'))).toEqual(['passed', 2, 0, 0]);
});

test('.NET: a project that was not built is reported although another has passed', () => {
  const report = read('dotnet-test', 'half-broken');
  expect(sumsOf(report)).toEqual(['broken', 1, 0, 0]);
  expect(report.failures).toMatchObject([{ file: 'other/OtherTest.cs', line: 5, isBuild: true }]);
});

test('.NET: a project without tests, which prints nothing about it, is not green', () => {
  expect(read('dotnet-test', 'not-tests').state).toBe('unreadable');
});

test.each([
  ['no-sdk', 'No .NET SDKs were found.'],
  ['other-sdk', 'A compatible .NET SDK was not found. Requested SDK version: 8.0.100'],
])('.NET without its requirements says so: %s', (kind, reason) => {
  expect(read('dotnet-test', kind)).toMatchObject({ state: 'broken', reason });
});

test('Swift succeeds when no test was selected, which is not green', () => {
  expect(sumsOf(read('swift-test', 'unmatched'))).toEqual(['empty', 0, 0, 0]);
});

test('Elixir before 1.20 prints its counts in other words', () => {
  expect(sumsOf(read('mix-test', 'summary-passing'))).toEqual(['passed', 2, 0, 0]);
  expect(sumsOf(read('mix-test', 'summary-failing'))).toEqual(['failed', 1, 2, 1]);
  expect(sumsOf(read('mix-test', 'unmatched'))).toEqual(['empty', 0, 0, 5]);
});

test('PHPUnit 13 is parsed like 9, and a file that it could not load is reported with its path', () => {
  expect(sumsOf(read('phpunit', 'version13'))).toEqual(['failed', 2, 3, 1]);
  const report = read('phpunit', 'broken-version13');
  expect(report.state).toBe('broken');
  expect(report.failures).toMatchObject([{ file: 'tests/SumsTest.php', line: 16, isBuild: true }]);
});
