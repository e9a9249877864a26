import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findProgram } from '../../src/lib/processes/find-program.ts';
import { connectStdio, makeDirectory } from '../support/harness.ts';

const manifest = JSON.stringify({ type: 'module', scripts: { test: 'node --test' } });
const sums = `import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
test('adds', () => assert.equal(1 + 2, 3));
test('is wrong', () => assert.equal(1 + 1, 3));
describe('nested', () => {
  it('is a failure', () => { throw new Error('no luck'); });
});
`;

/** Needs a program of the system, and prints a note if it is missing. */
function withProgram(program: string) {
  const isMissing = findProgram(program) === undefined;
  if (isMissing) console.warn(`skipped: there is no ${program} on this machine`);
  return test.skipIf(isMissing);
}

describe('node', () => {
  test('reports the failed tests with place and reason, and runs exactly those again', async () => {
    using workspace = makeDirectory({ 'package.json': manifest, 'a.test.js': sums, 'b.test.js': sums.slice(0, 0) });
    await using session = await connectStdio(['--workspace', workspace.path]);

    const first = await session.call('run_tests');
    expect(first.structured).toMatchObject({ state: 'failed', runs: [{ passed: 1, failed: 2, exitCode: 1 }] });
    expect(first.structured.runs[0].failures).toMatchObject([
      { name: 'is wrong', file: 'a.test.js', line: 4 },
      { name: 'nested is a failure', file: 'a.test.js', line: 6, message: 'no luck' },
    ]);
    expect(first.text).toContain('a.test.js:4');

    writeFileSync(workspace.at('a.test.js'), sums.replace('1 + 1, 3', '1 + 1, 2'));
    const second = await session.call('run_failing_tests');
    expect(second.structured).toMatchObject({ state: 'failed', runs: [{ passed: 1, failed: 1 }] });
    const third = await session.call('run_failing_tests');
    expect(third.structured.runs[0]).toMatchObject({
      passed: 0,
      failed: 1,
      failures: [{ name: 'nested is a failure' }],
    });
  });

  test('remembers a failure that was not run again', async () => {
    using workspace = makeDirectory({ 'package.json': manifest, 'a.test.js': sums });
    await using session = await connectStdio(['--workspace', workspace.path]);
    await session.call('run_tests');
    writeFileSync(workspace.at('a.test.js'), sums.replace('1 + 1, 3', '1 + 1, 2'));

    const again = await session.call('run_failing_tests', { limit: 1 });
    expect(again.structured).toMatchObject({ state: 'passed', runs: [{ passed: 1, failed: 0 }] });
    const last = await session.call('last_test_failures');
    expect(last.structured.runs[0]).toMatchObject({ state: 'failed', failures: [{ name: 'nested is a failure' }] });
  });

  test('a removed test does not count as passed', async () => {
    using workspace = makeDirectory({ 'package.json': manifest, 'a.test.js': sums });
    await using session = await connectStdio(['--workspace', workspace.path]);
    await session.call('run_tests');
    writeFileSync(
      workspace.at('a.test.js'),
      sums.replace("'is wrong'", "'other'").replace("throw new Error('no luck');", ''),
    );

    const again = await session.call('run_failing_tests');
    expect(again.structured).toMatchObject({ state: 'broken', runs: [{ passed: 1, failed: 0 }] });
    expect(again.text).toContain('only 1 ran again');
    writeFileSync(workspace.at('a.test.js'), "import { test } from 'node:test';\ntest('adds', () => {});\n");
    const none = await session.call('run_failing_tests');
    expect(none.structured.state).toBe('empty');
  });

  test('a filter that matches no test is not green', async () => {
    using workspace = makeDirectory({ 'package.json': manifest, 'a.test.js': sums });
    await using session = await connectStdio(['--workspace', workspace.path]);
    const ran = await session.call('run_tests', { name: 'nothing like it' });
    expect(ran.structured.state).toBe('empty');
  });

  test('reports the last failures after a restart, and that a build broke', async () => {
    using workspace = makeDirectory({ 'package.json': manifest, 'a.test.js': 'import { nothing' });
    using data = makeDirectory();
    const env = { CROFT_DATA: data.path };
    {
      await using session = await connectStdio(['--workspace', workspace.path], { env });
      const ran = await session.call('run_tests');
      expect(ran.structured).toMatchObject({ state: 'broken', runs: [{ passed: 0 }] });
    }
    await using session = await connectStdio(['--workspace', workspace.path], { env });
    const { text, structured } = await session.call('last_test_failures');
    expect(structured.runs).toMatchObject([{ state: 'broken', failures: [{ file: 'a.test.js', isBuild: true }] }]);
    expect(text).not.toContain('no failures');
    expect(text).toContain('SyntaxError');
  });

  test('finds the failure after a megabyte of output', async () => {
    const loud = `import { test } from 'node:test';
for (let n = 0; n < 20_000; n++) console.log('x'.repeat(60));
test('is wrong', () => { throw new Error('no luck'); });
`;
    using workspace = makeDirectory({ 'package.json': manifest, 'a.test.js': loud });
    await using session = await connectStdio(['--workspace', workspace.path]);
    const ran = await session.call('run_tests');
    expect(ran.structured).toMatchObject({
      state: 'failed',
      runs: [{ failures: [{ name: 'is wrong' }] }],
    });
  });

  test('ends at its timeout, and says so', async () => {
    const slow =
      "import { test } from 'node:test';\ntest('is slow', () => new Promise((done) => setTimeout(done, 60_000)));\n";
    using workspace = makeDirectory({ 'package.json': manifest, 'a.test.js': slow });
    await using session = await connectStdio(['--workspace', workspace.path]);
    const ran = await session.call('run_tests', { timeout: 1 });
    expect(ran.structured).toMatchObject({ state: 'broken', runs: [{ timedOut: true, exitCode: 124 }] });
    expect(ran.text).toContain('time ran out after 1s');
  });

  test('names a missing program, and the command that may install it', async () => {
    const vitest = JSON.stringify({ scripts: { test: 'vitest run' } });
    using workspace = makeDirectory({ 'package.json': vitest });
    await using session = await connectStdio(['--workspace', workspace.path]);
    const ran = await session.call('run_tests');
    expect(ran.isError).toBe(true);
    expect(ran.text).toContain('run_tests: vitest: not found on PATH; it may come with: npm install');
    const last = await session.call('last_test_failures');
    expect(last.text).toContain('no run_tests call yet');
  });

  test('a program that exists and cannot be started is not reported as missing', async () => {
    const vitest = JSON.stringify({ scripts: { test: 'vitest run' } });
    using workspace = makeDirectory({ 'package.json': vitest, 'node_modules/.bin/vitest': '#!/bin/sh\n' });
    await using session = await connectStdio(['--workspace', workspace.path]);
    const ran = await session.call('run_tests');
    expect(ran.structured).toMatchObject({ state: 'broken', green: false });
    expect(ran.text).toContain('Permission denied');
    expect(ran.text).not.toContain('not found on PATH');
    const part = await session.call('run_tests', { name: 'x' });
    expect(part.isError).toBe(true);
    expect(part.text).toContain('not executable');
  });

  test('shows the last errors of Maven, and not its first lines', async () => {
    const words = [
      ...['[INFO] Scanning for projects...', '[WARNING] a warning', '[INFO] BUILD FAILURE', '[ERROR] '],
      '[ERROR] Plugin org.example:resources:3.3.1 could not be resolved: Cannot access central in offline mode',
    ];
    const mvnw = `#!/bin/sh\necho 'Picked up JAVA_TOOL_OPTIONS: -Xmx1g' >&2\ncat <<'END'\n${words.join('\n')}\nEND\nexit 1\n`;
    using workspace = makeDirectory({ 'pom.xml': '<project/>', mvnw });
    chmodSync(workspace.at('mvnw'), 0o755);
    await using session = await connectStdio(['--workspace', workspace.path]);
    const ran = await session.call('run_tests');
    expect(ran.structured.runs[0]).toMatchObject({
      state: 'broken',
      reason: expect.stringMatching(/^exit 1: Plugin org\.example:resources:3\.3\.1 could not be resolved/),
    });
  });

  test('a failed test that prints "not found" is a failed test', async () => {
    const prints =
      "import { test } from 'node:test';\ntest('x', () => { console.error('vitest: not found'); throw 1; });\n";
    using workspace = makeDirectory({ 'package.json': manifest, 'a.test.js': prints });
    await using session = await connectStdio(['--workspace', workspace.path]);
    const ran = await session.call('run_tests');
    expect(ran).toMatchObject({ isError: false, structured: { state: 'failed', runs: [{ failed: 1 }] } });
  });
});

describe('go', () => {
  withProgram('go')(
    'runs the failed sub-test again and no other',
    async () => {
      using workspace = makeDirectory({
        'go.mod': 'module example.com/sums\n\ngo 1.19\n',
        'sub/sums_test.go': `package sub

import "testing"

func TestFine(t *testing.T) {}

func TestTable(t *testing.T) {
	t.Run("good one", func(t *testing.T) {})
	t.Run("bad one", func(t *testing.T) { t.Error("no luck") })
}
`,
      });
      await using session = await connectStdio(['--workspace', workspace.path]);
      const first = await session.call('run_tests');
      expect(first.structured).toMatchObject({ state: 'failed', runs: [{ passed: 2, failed: 1 }] });
      expect(first.structured.runs[0].failures).toMatchObject([
        { name: 'TestTable/bad_one', file: 'sub/sums_test.go', line: 9 },
      ]);
      const second = await session.call('run_failing_tests');
      expect(second.structured).toMatchObject({ state: 'failed', runs: [{ passed: 0, failed: 1 }] });

      writeFileSync(
        workspace.at('sub/sums_test.go'),
        'package sub\n\nimport "testing"\n\nfunc TestFine(t *testing.T) { missing() }\n',
      );
      const broken = await session.call('run_tests');
      expect(broken.structured.runs[0]).toMatchObject({
        state: 'broken',
        failures: [{ file: 'sub/sums_test.go', line: 5 }],
      });
      expect((await session.call('last_test_failures')).text).not.toContain('no failures');
    },
    120_000,
  );
});

describe('python', () => {
  withProgram('python3')('runs the failed test again and no other', async () => {
    const code = `import unittest


class Sums(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(1 + 2, 3)

    def test_wrong(self):
        self.assertEqual(1 + 1, 3)
`;
    using workspace = makeDirectory({ 'pyproject.toml': '[project]\nname = "sums"\n', 'test_sums.py': code });
    await using session = await connectStdio(['--workspace', workspace.path]);
    const first = await session.call('run_tests');
    expect(first.structured.runs[0].failures).toMatchObject([{ file: 'test_sums.py', line: 9 }]);
    const second = await session.call('run_failing_tests');
    expect(second.structured).toMatchObject({ state: 'failed', runs: [{ passed: 0, failed: 1 }] });
  });
});

describe('rust', () => {
  withProgram('cargo')(
    'runs the failed test again, and says that it does not compile',
    async () => {
      const code = (sum: string) => `pub fn add(a: i32, b: i32) -> i32 {
    ${sum}
}

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
}

#[test]
fn is_wrong() {
    assert_eq!(add(1, 1), 3);
}
`;
      const manifest = '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n';
      using workspace = makeDirectory({ 'Cargo.toml': manifest, 'src/lib.rs': code('a + b') });
      await using session = await connectStdio(['--workspace', workspace.path]);
      const first = await session.call('run_tests');
      expect(first.structured.runs[0]).toMatchObject({ passed: 1, failures: [{ file: 'src/lib.rs', line: 12 }] });
      const second = await session.call('run_failing_tests');
      expect(second.structured).toMatchObject({ state: 'failed', runs: [{ passed: 0, failed: 1 }] });
      writeFileSync(workspace.at('src/lib.rs'), code('a + missing'));
      const broken = await session.call('run_tests');
      expect(broken.structured.runs[0]).toMatchObject({ state: 'broken', failures: [{ file: 'src/lib.rs', line: 2 }] });
    },
    120_000,
  );
});

describe('c', () => {
  withProgram('ctest')(
    'tests what was edited, and not what was built before',
    async () => {
      using workspace = makeDirectory({
        'CMakeLists.txt':
          'cmake_minimum_required(VERSION 3.21)\nproject(sums C)\nenable_testing()\nadd_executable(one one.c)\nadd_test(NAME one COMMAND one)\n',
        'one.c': 'int main(void) { return 0; }\n',
      });
      await using session = await connectStdio(['--workspace', workspace.path]);
      expect((await session.call('run_tests')).structured).toMatchObject({ state: 'passed', runs: [{ passed: 1 }] });
      writeFileSync(workspace.at('one.c'), 'int main(void) { return 1; }\n');
      expect((await session.call('run_tests')).structured).toMatchObject({ state: 'failed', runs: [{ failed: 1 }] });
      writeFileSync(workspace.at('one.c'), 'int main(void) { return missing; }\n');
      const broken = await session.call('run_tests');
      expect(broken.structured.runs[0]).toMatchObject({ state: 'broken', failures: [{ file: 'one.c', line: 1 }] });
      rmSync(workspace.at('build'), { recursive: true });
    },
    120_000,
  );
});
