import { describe, expect, test } from 'vitest';
import { everyRunner, outputOf, runnerOf } from '../../test/support/test-reports.ts';
import type { TestRequest } from '../core/project-tools/test-runner.ts';
import type { Argv } from '../core/projects/profile.ts';

/** Commands as detectors build them. */
const profiles: Record<string, Argv> = {
  vitest: ['vitest', 'run', '$FILES'],
  'node-test': ['node', '--test', '$FILES'],
  'bun-test': ['bun', 'test', '$FILES'],
  'deno-test': ['deno', 'test', '$FILES'],
  unittest: ['python3', '-m', 'unittest', '$FILES'],
  'go-test': ['go', 'test', '$FILES'],
  'cargo-test': ['cargo', 'test'],
  maven: ['mvn', '-o', '-B', 'test'],
  gradle: ['./gradlew', '--offline', 'test'],
  ctest: ['ctest', '--test-dir', 'build'],
  'meson-test': ['meson', 'test', '-C', 'build'],
  'dotnet-test': ['dotnet', 'test'],
  'make-test': ['make', 'test'],
  'mix-test': ['mix', 'test', '$FILES'],
  'swift-test': ['swift', 'test'],
  'zig-test': ['zig', 'build', 'test'],
  script: ['npm', 'run', 'test'],
};

function toArgv(name: string, request: Partial<TestRequest>): readonly string[] {
  const argv = profiles[name] ?? [name, '$FILES'];
  return runnerOf(name).toArgv(argv, { files: [], reportFile: '/tmp/report', ...request });
}

const again = (name: string) => toArgv(name, { again: runnerOf(name).read(outputOf(name, 'failing')).failures });

describe('run_failing_tests selects the failed tests', () => {
  test.each([
    [
      'vitest',
      [
        'a.test.js',
        '--testNamePattern=^ ?(is( > | )wrong|sums( > | )\\(of( > | )two\\)( > | )is( > | )a( > | )failure)$',
      ],
    ],
    ['jest', ['a.test.js', '--runTestsByPath', '--testNamePattern=^(is wrong|sums \\(of two\\) is a failure)$']],
    ['node-test', ['a.test.js', '--test-name-pattern=^(is wrong|sums \\(of two\\) is a failure|is a failure)$']],
    [
      'pytest',
      ['tests/test_a.py::test_wrong', 'tests/test_a.py::TestSums::test_each[2]', 'tests/test_a.py::test_setup'],
    ],
    [
      'unittest',
      ['test_a.Sums.test_error', 'test_a.Sums.test_sub', 'test_a.Sums.test_wrong', 'test_a.Sums.test_surprise'],
    ],
    [
      'go-test',
      ['-run=^TestPanics$|^TestWrong$|^TestTable$/^second_case$', 'example.com/sums/calc', 'example.com/sums'],
    ],
    ['rspec', ['./spec/a_spec.rb[1:2]', './spec/a_spec.rb[1:3:1]']],
    ['maven', ['-Dtest=com.example.SumsTest#throwsUp,com.example.SumsTest#isWrong']],
    ['gradle', ['--tests=com.example.SumsTest.isWrong']],
    ['ctest', ['-R', '^(is wrong)$']],
    ['meson-test', ['--', 'is wrong']],
    ['minitest', ['--name=/^(TestSums#test_wrong|TestSums#test_error)$/']],
    ['mix-test', ['test/sums_test.exs:14', 'test/sums_test.exs:9']],
    [
      'dotnet-test',
      ['--filter=FullyQualifiedName=Sums.Tests.SumsTest.Throws|FullyQualifiedName=Sums.Tests.SumsTest.IsWrong'],
    ],
    ['swift-test', ['--filter', '[./]SumsTests\\/testWrong(/|$)', '[./]SumsTests\\/testThrows(/|$)']],
  ])('%s', (name, expected) => {
    expect(again(name)).toEqual(expect.arrayContaining(expected));
  });

  test('cargo-test, by whole names after the end of its options', () => {
    const failures = [{ name: 'tests::is_wrong', message: '' }];
    expect(toArgv('cargo-test', { again: failures }).slice(-4)).toEqual(['--', '--exact', '--', 'tests::is_wrong']);
  });

  test('phpunit, with the data set', () => {
    expect(again('phpunit').at(-1)).toContain('App\\\\Tests\\\\SumsTest::testEach with data set "other"');
  });

  test('a suite that could not be built is run as a whole', () => {
    const build = [{ name: 'sums_test.go:6', file: 'sub/sums_test.go', message: '', isBuild: true as const }];
    expect(toArgv('go-test', { again: build })).toEqual(['go', 'test', '-json', '-count=1', './sub']);
    expect(toArgv('vitest', { again: build }).join(' ')).not.toContain('testNamePattern');
    expect(toArgv('cargo-test', { again: build })).not.toContain('--exact');
  });
});

describe('files become arguments in the way of the test runner', () => {
  test('go: as their packages, once each', () => {
    expect(toArgv('go-test', { files: ['a/b/x_test.go', 'a/b/y_test.go', 'z_test.go'] }).slice(-2)).toEqual([
      './a/b',
      '.',
    ]);
    expect(toArgv('go-test', {}).at(-1)).toBe('./...');
  });

  test('cargo: never as a filter by name, which would match nothing and succeed', () => {
    expect(toArgv('cargo-test', { files: ['tests/whole.rs'] })).toContain('--test=whole');
    expect(toArgv('cargo-test', { files: ['src/lib.rs'] })).toEqual(['cargo', 'test', '--no-fail-fast']);
  });

  test('maven, gradle: as classes', () => {
    expect(toArgv('maven', { files: ['src/test/java/a/BTest.java'] })).toContain('-Dtest=BTest');
    expect(toArgv('gradle', { files: ['src/test/java/a/BTest.java'] })).toContain('--tests=*BTest');
  });
});

const hostile = ['--output=/etc/passwd', '-e', '-Dexec=x', '--config=x'];

describe.each(everyRunner.map(({ name }) => name))('%s', (name) => {
  test.each(hostile)('a test with the name %s is not read as an option', (value) => {
    const failure = { name: value, message: '' };
    for (const request of [{ name: value }, { again: [failure] }]) {
      const argv = toArgv(name, request);
      const end = argv.indexOf('--');
      const before = end < 0 ? argv : argv.slice(0, end);
      expect(before.slice(1)).not.toContain(value);
    }
  });

  test('a file with the name of an option is not read as one', () => {
    const argv = toArgv(name, { files: ['--config=evil.js'], again: undefined });
    expect(argv).not.toContain('--config=evil.js');
  });
});
