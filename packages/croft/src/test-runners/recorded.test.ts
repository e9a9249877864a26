import { expect, test } from 'vitest';
import { casesOf, everyRunner, outputOf, runnerOf } from '../../test/support/test-reports.ts';

test('every test runner has a passing, a failing and a broken recording', () => {
  const names = everyRunner.map(({ name }) => name).sort();
  for (const kind of ['passing', 'failing', 'broken']) expect(casesOf(kind).map(([name]) => name)).toEqual(names);
});

test.each(casesOf('passing'))('%s: a passing run is green, with its count', (name, output) => {
  const report = runnerOf(name).read(output);
  expect(report).toMatchObject({ state: 'passed', failed: 0, failures: [] });
  expect(report.passed).toBe(name === 'script' ? null : /mix-test|zig-test|gradle/.test(name) ? 2 : 1);
});

test.each(casesOf('empty'))('%s: a run without tests is not green', (name, output) => {
  expect(runnerOf(name).read(output)).toMatchObject({ state: 'empty', failed: 0, failures: [] });
});

/** By runner: passed, failed and skipped, and each failure as `name @ file:line`. */
const failing: Record<string, [number | null, number, number | null, string[]]> = {
  ava: [1, 1, 1, ['is wrong']],
  'bun-test': [2, 2, 1, ['is wrong @ a.test.js:4', 'sums (of two) is a failure @ a.test.js:7']],
  'cargo-test': [
    ...([2, 4, 1] as const),
    [
      'from_outside @ tests/whole.rs:3',
      'src/lib.rs - add (line 3) @ src/lib.rs:5',
      'tests::is_wrong @ src/lib.rs:22',
      'tests::returns_an_error',
    ],
  ],
  ctest: [1, 1, 1, ['is wrong @ bad.c:5']],
  'deno-test': [
    ...([2, 3, 1] as const),
    ['has steps > second @ a_test.ts:8', 'has steps @ a_test.ts:5', 'is wrong @ a_test.ts:3'],
  ],
  'dotnet-test': [
    ...([2, 2, 1] as const),
    ['Sums.Tests.SumsTest.IsWrong(n: 2) @ tests/SumsTest.cs:14', 'Sums.Tests.SumsTest.Throws @ tests/SumsTest.cs:18'],
  ],
  'go-test': [
    ...([2, 3, 1] as const),
    ['TestPanics @ calc/calc_test.go:7', 'TestTable/second_case @ sums_test.go:17', 'TestWrong @ sums_test.go:12'],
  ],
  gradle: [1, 1, 1, ['com.example.SumsTest.isWrong @ src/test/java/com/example/SumsTest.java:15']],
  jest: [2, 2, 1, ['is wrong @ a.test.js:2', 'sums (of two) is a failure @ a.test.js:5']],
  'make-test': [1, 1, 0, []],
  maven: [
    ...([1, 2, 1] as const),
    [
      'com.example.SumsTest#isWrong @ src/test/java/com/example/SumsTest.java:16',
      'com.example.SumsTest#throwsUp @ src/test/java/com/example/SumsTest.java:21',
    ],
  ],
  'meson-test': [1, 1, 0, ['is wrong']],
  minitest: [1, 2, 1, ['TestSums#test_error @ test/sums_test.rb:13', 'TestSums#test_wrong @ test/sums_test.rb:9']],
  'mix-test': [
    1,
    2,
    1,
    ['SumsTest test raises @ test/sums_test.exs:15', 'SumsTest test wrongly is wrong @ test/sums_test.exs:10'],
  ],
  mocha: [
    ...([2, 3, 1] as const),
    [
      'is wrong @ test/a.js:4',
      'sums (of two) is a failure @ test/a.js:7',
      'with a hook "before each" hook: make for "never runs" @ test/a.js:13',
    ],
  ],
  'node-test': [2, 2, 1, ['is wrong @ a.test.js:5', 'sums (of two) is a failure @ a.test.js:8']],
  phpunit: [
    ...([2, 3, 1] as const),
    [
      'App\\Tests\\SumsTest::testEach with data set "other" @ tests/SumsTest.php:21',
      'App\\Tests\\SumsTest::testError @ tests/SumsTest.php:31',
      'App\\Tests\\SumsTest::testWrong @ tests/SumsTest.php:15',
    ],
  ],
  pytest: [
    ...([2, 3, 1] as const),
    [
      'tests/test_a.py::TestSums::test_each[2] @ tests/test_a.py:15',
      'tests/test_a.py::test_setup @ tests/test_a.py:20',
      'tests/test_a.py::test_wrong @ tests/test_a.py:9',
    ],
  ],
  rspec: [1, 2, 1, ['sums is wrong @ spec/a_spec.rb:3', 'sums when odd raises @ spec/a_spec.rb:7']],
  script: [null, 0, null, []],
  // A thrown error has no location there.
  'swift-test': [1, 2, 1, ['SumsTests.testThrows', 'SumsTests.testWrong @ Tests/SumsTests/SumsTests.swift:12']],
  unittest: [
    ...([1, 4, 1] as const),
    [
      'test_a.Sums.test_error @ test_a.py:12',
      'test_a.Sums.test_sub (i=1) @ test_a.py:17',
      'test_a.Sums.test_surprise',
      'test_a.Sums.test_wrong @ test_a.py:9',
    ],
  ],
  vitest: [2, 2, 1, ['is wrong @ a.test.js:4', 'sums (of two) is a failure @ a.test.js:7']],
  'zig-test': [
    ...([1, 3, 1] as const),
    [
      'root.test.is not so @ src/root.zig:16',
      'root.test.is wrong @ src/root.zig:12',
      'root.test.leaks @ src/root.zig:24',
    ],
  ],
};

test.each(casesOf('failing'))('%s: a failure has its name, file, line and message', (name, output) => {
  const report = runnerOf(name).read(output);
  const failures = report.failures.map((one) => (one.file ? `${one.name} @ ${one.file}:${one.line}` : one.name));
  expect([report.passed, report.failed, report.skipped, failures.sort()]).toEqual(failing[name]);
  expect(report.state).toBe('failed');
  for (const { message } of report.failures) expect(message).toMatch(/\S{3}/);
});

/** The location of a build error; none if the test runner gives none. */
const broken: Record<string, string | undefined> = {
  'cargo-test': 'src/lib.rs:2',
  ctest: 'good.c:1',
  'deno-test': 'b_test.ts:1',
  'dotnet-test': 'src/Sums.cs:7',
  'go-test': 'sums_test.go:6',
  gradle: 'src/main/java/com/example/Sums.java:5',
  'make-test': 'sums.c:2',
  maven: 'src/test/java/com/example/SumsTest.java:10',
  'meson-test': 'good.c:1',
  'mix-test': 'lib/sums.ex:6',
  'node-test': 'b.test.js:2',
  phpunit: 'tests/SumsTest.php:2',
  pytest: 'tests/test_b.py:1',
  rspec: 'spec/b_spec.rb:1',
  script: 'src/a.c:3',
  'swift-test': 'Sources/Sums/Sums.swift:3',
  unittest: 'test_b.py:1',
  'zig-test': 'src/root.zig:2',
};

test.each(casesOf('broken'))('%s: a failed build is broken, with its first error', (name, output) => {
  const { state, reason = '', failures } = runnerOf(name).read(output);
  expect(state).toBe('broken');
  expect(reason).toMatch(
    /nothing|missing|undefined|cannot|symbol|syntax|end of input|Subtract|assignable|unknown|`c`/i,
  );
  const location = broken[name];
  if (location !== undefined) expect(failures.map(({ file, line }) => `${file}:${line}`)).toContain(location);
  expect(failures.every(({ isBuild }) => isBuild)).toBe(true);
});

test('a failed build of one Go package is reported although another package passed', () => {
  expect(runnerOf('go-test').read(outputOf('go-test', 'broken'))).toMatchObject({ state: 'broken', passed: 1 });
});

test('a file that Node counts as a test although it ran none does not count', () => {
  expect(runnerOf('node-test').read(outputOf('node-test', 'unmatched'))).toMatchObject({ state: 'empty', passed: 0 });
});

test('a script that prints TAP is parsed as TAP', () => {
  const report = runnerOf('script').read(outputOf('script', 'tap'));
  expect(report).toMatchObject({ state: 'failed', passed: 1, failed: 1, skipped: 1 });
  expect(report.failures).toMatchObject([{ name: 'is wrong', file: 'test/a.js', line: 7 }]);
});

test('a stack trace is not taken for the comparison of an assertion', () => {
  const [failure] = runnerOf('gradle').read(outputOf('gradle', 'failing')).failures;
  expect(failure?.message).toContain('expected:<4> but was:<3>');
  expect(failure?.diff).toBeUndefined();
});
