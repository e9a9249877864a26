import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasToolchains } from '../support/toolchains.ts';
import { shareProjects } from './project.ts';

const isReady = await hasToolchains('node');

/** Each says in its name where it is. */
const tests = (name: string, body = '') => `import { test } from 'node:test';\ntest('${name}', () => {${body}});\n`;

describe.skipIf(!isReady)('a script that names its test files', () => {
  const { projectTree, call } = shareProjects({});
  const fill = (script: string) => {
    const manifest = JSON.stringify({ name: 'x', type: 'module', scripts: { test: script } });
    projectTree.fill(
      {},
      {
        'package.json': manifest,
        'test/top.test.js': tests('top'),
        'test/deep/one.test.js': tests('one'),
        'test/deep/two.test.js': tests('two'),
        'other/x.js': tests('x'),
        'other/bad.js': tests('bad', "throw new Error('bad')"),
      },
    );
  };

  test.each([
    ['node --test other/x.js', 1],
    ['node --test test/**/*.test.js', 2],
    ['node --test "test/**/*.test.js"', 3],
    ['node --test test/deep/*.test.js other/x.js', 3],
    ["node --test 'test/{deep,none}/*.test.js'", 2],
  ])('%s: runs %i, as a shell and the newest Node would, or none if this Node finds none', async (script, passed) => {
    fill(script);
    // Node has found files by patterns since version 21: before, such a script fails, and what it names is run all the same
    // where only a part of it is asked for.
    const own = (await call('bash', { command: 'npm test' })).structured.exitCode;
    const { structured } = await call('run_tests');
    expect(structured).toMatchObject(own === 0 ? { green: true, runs: [{ passed, failed: 0 }] } : { state: 'failed' });
    const part = (await call('run_tests', { name: passed === 1 ? 'x' : 'one' })).structured;
    expect(part).toMatchObject({ state: 'passed', green: false, runs: [{ passed: 1, failed: 0 }] });
  });

  test('runs the given files in place of its own', async () => {
    fill('node --test other/x.js');
    const bad = (await call('run_tests', { files: ['other/bad.js'] })).structured;
    expect(bad).toMatchObject({ state: 'failed', runs: [{ passed: 0, failed: 1, failures: [{ name: 'bad' }] }] });
    const again = (await call('run_failing_tests')).structured;
    expect(again).toMatchObject({ state: 'failed', runs: [{ passed: 0, failed: 1 }] });
    fill('node --test test/**/*.test.js');
    const one = (await call('run_tests', { files: ['test/top.test.js'] })).structured;
    expect(one).toMatchObject({ state: 'passed', runs: [{ passed: 1 }] });
  });

  test('is refused if it cannot be limited to the given files, and never green for others', async () => {
    fill('echo all is well');
    for (const asked of [{ files: ['other/bad.js'] }, { name: 'bad' }]) {
      const answer = await call('run_tests', asked);
      expect(answer.structured.error).toMatchObject({
        code: 'E_INVALID_INPUT',
        details: { refused: Object.keys(asked) },
      });
      expect(answer.text).toContain('npm run test always runs all of its tests');
    }
    expect((await call('run_tests')).structured.state).toBe('passed');
  });

  test('with one missing file is not green for the others', async () => {
    fill('node --test');
    const answer = await call('run_tests', { files: ['test/top.test.js', 'test/absent.test.js'] });
    expect(answer.structured.error).toMatchObject({
      code: 'E_FILE_NOT_FOUND',
      details: { path: 'test/absent.test.js' },
    });
  });

  test('with one file that the test runner skips is not green for the others', async () => {
    fill('vitest');
    const result = (name: string) => ({
      name,
      status: 'passed',
      assertionResults: [{ fullName: 'a', status: 'passed' }],
    });
    const report = { numPassedTests: 1, numFailedTests: 0, success: true, testResults: [result('test/top.test.js')] };
    const find =
      'for word in "$@"; do case $word in --outputFile.json=*) out=$(echo "$word" | cut -d= -f2);; esac; done';
    projectTree.put('node_modules/.bin/vitest', `#!/bin/sh\n${find}\necho '${JSON.stringify(report)}' > "$out"\n`);
    chmodSync(projectTree.at('node_modules/.bin/vitest'), 0o755);
    const one = (await call('run_tests', { files: ['test/top.test.js'] })).structured;
    expect(one).toMatchObject({ state: 'passed', runs: [{ tool: 'vitest', passed: 1 }] });
    const both = (await call('run_tests', { files: ['test/top.test.js', 'other/x.js'] })).structured;
    expect(both).toMatchObject({
      state: 'broken',
      runs: [{ reason: 'other/x.js was not run: the test runner does not list it' }],
    });
  });

  test('runs both of its test runners', async () => {
    fill('node --test other/x.js && node --test other/bad.js');
    expect((await call('run_tests')).structured.state).not.toBe('passed');
    fill('node --test other/x.js && node --test test/top.test.js');
    expect((await call('run_tests')).structured).toMatchObject({
      state: 'passed',
      runs: [{ tool: 'script', passed: 2 }],
    });
  });

  test('is run in each of two projects', async () => {
    fill('node --test other/x.js');
    projectTree.put(
      'inner/package.json',
      JSON.stringify({ name: 'y', type: 'module', scripts: { test: 'node --test none.js' } }),
    );
    projectTree.put('inner/y.js', tests('y'));
    const { runs } = (await call('run_tests', { files: ['other/x.js', 'inner/y.js'] })).structured;
    expect(runs).toMatchObject([
      { directory: '', passed: 1 },
      { directory: 'inner', passed: 1 },
    ]);
  });
});
