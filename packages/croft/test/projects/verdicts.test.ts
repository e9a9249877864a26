import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasToolchains } from '../support/toolchains.ts';
import { shareProjects } from './project.ts';

const isReady = await hasToolchains('node');
const hasRust = await hasToolchains('rust');
const hasMake = await hasToolchains('cmake');
const json = JSON.stringify;
const { projectTree, call } = shareProjects({});

const head = "import assert from 'node:assert/strict';\nimport { describe, it, test } from 'node:test';\n";
/** Each by its name, and whether it passes. */
const tests = (all: Record<string, boolean>) =>
  head +
  Object.entries(all)
    .map(([name, isFine]) => `test('${name}', () => assert.ok(${isFine}));\n`)
    .join('');
const manifest = (scripts: Record<string, string>) => json({ name: 'x', version: '1.0.0', type: 'module', scripts });

function fill(scripts: Record<string, string>, tree: Record<string, string>): void {
  projectTree.fill({}, { ...tree, 'package.json': manifest(scripts) });
}

describe.skipIf(!isReady)('a verdict', () => {
  test('has the changes since the last run, and each failure once', async () => {
    fill({ test: 'node --test' }, { 'a.test.js': tests({ one: false, two: false, three: false, four: true }) });
    const first = await call('run_tests');
    expect(first.structured.runs[0].changes).toBeUndefined();
    expect(first.text.match(/\d\. one$/gm)).toHaveLength(1);
    expect(first.text.match(/\bone\b/g)).toHaveLength(1);
    expect(first.text).toContain('(npm run test)');
    expect(`${first.text}${json(first.structured)}`).not.toMatch(/croft-report|--test-reporter/);

    projectTree.put('a.test.js', tests({ one: true, two: true, three: false, four: false }));
    const second = await call('run_tests');
    expect(second.structured.runs[0].changes).toEqual({ fixed: 2, new: 1, stillFailing: 1 });
    expect(second.text).toContain('since the last run: fixed 2, new 1, still failing 1\n');

    projectTree.put('a.test.js', tests({ one: true, two: true, three: true, four: false }));
    const again = await call('run_failing_tests');
    expect(again.structured.runs[0]).toMatchObject({ isPart: true, changes: { fixed: 1, new: 0, stillFailing: 1 } });
  });

  test('on a part is never green, and keeps failures elsewhere', async () => {
    fill({ test: 'node --test' }, { 'a.test.js': tests({ one: false }), 'b.test.js': tests({ two: true }) });
    expect((await call('run_tests')).structured).toMatchObject({ state: 'failed', green: false });
    const part = await call('run_tests', { files: ['b.test.js'] });
    expect(part.structured).toMatchObject({ state: 'passed', green: false, runs: [{ isPart: true, passed: 1 }] });
    expect(part.text).toContain('no verdict on the others');
    expect((await call('last_test_failures')).structured.runs[0]).toMatchObject({ failures: [{ name: 'one' }] });
    projectTree.put('a.test.js', tests({ one: true }));
    expect((await call('run_tests')).structured).toMatchObject({ state: 'passed', green: true });
  });

  test('on several steps has the tests of the last step, and names a failed earlier step', async () => {
    const suite = `${head}describe('sums', () => { it('adds', () => assert.equal(1 + 1, 3)); });\n`;
    fill({ pretest: 'node check.js', test: 'A=1 node --test' }, { 'a.test.js': suite, 'check.js': '' });
    const { structured } = await call('run_tests');
    expect(structured).toMatchObject({
      state: 'failed',
      runs: [{ tool: 'node-test', failed: 1, failures: [{ name: 'sums adds', file: 'a.test.js', line: 3 }] }],
    });
    // By the script, with its steps and variables.
    const again = (await call('run_failing_tests')).structured;
    expect(again).toMatchObject({ state: 'failed', runs: [{ passed: 0, failed: 1 }] });
    projectTree.put('check.js', "console.error('the check is not happy');\nprocess.exit(3);\n");
    const broken = await call('run_tests');
    expect(broken.structured).toMatchObject({ state: 'failed', green: false, runs: [{ exitCode: 3 }] });
    expect(broken.text).toContain('the check is not happy');
  });

  test('on a script has the tests that it prints, which can be run again alone', async () => {
    const suite = `${head}describe('sums', () => { it('adds', () => assert.equal(1 + 1, 3)); it('is', () => {}); });\n`;
    fill({ test: 'node --test ./a.test.js' }, { 'a.test.js': suite });
    const { structured } = await call('run_tests');
    const failure = { name: 'sums adds', file: 'a.test.js', line: 3 };
    expect(structured).toMatchObject({ state: 'failed', runs: [{ passed: 1, failed: 1, failures: [failure] }] });
    expect(structured.runs[0].failures[0].message).toMatch(/2 !== 3/);
    const again = (await call('run_failing_tests')).structured;
    expect(again).toMatchObject({ state: 'failed', runs: [{ passed: 0, failed: 1, failures: [failure] }] });
  });

  test('on a script that succeeds and prints a failure is neither green nor red', async () => {
    fill({ test: 'node --test a.test.js || true' }, { 'a.test.js': tests({ one: false }) });
    const { structured } = await call('run_tests');
    expect(structured).toMatchObject({ state: 'unreadable', green: false });
    expect(structured.runs[0].reason).toBe('it ended with exit 0, but printed that 1 failed');
  });

  test('on a part is refused for a script that cannot be limited', async () => {
    fill({ test: 'node check.js && node --test a.test.js' }, { 'a.test.js': tests({ one: true }), 'check.js': '' });
    for (const asked of [{ files: ['a.test.js'] }, { name: 'one' }]) {
      const answer = await call('run_tests', asked);
      expect(answer.isError).toBe(true);
      expect(answer.text).toContain('npm run test always runs all of its tests');
    }
  });

  test('on a test runner without a report file is parsed from its output', async () => {
    const stats = { passes: 1, pending: 0, failures: 0 };
    const report = JSON.stringify({ stats, tests: [], failures: [], passes: [] }, null, 2);
    fill({ test: 'mocha' }, { 'node_modules/.bin/mocha': `#!/bin/sh\necho 'noise {'\ncat <<'end'\n${report}\nend\n` });
    chmodSync(projectTree.at('node_modules/.bin/mocha'), 0o755);
    expect((await call('run_tests')).structured).toMatchObject({ green: true, runs: [{ tool: 'mocha', passed: 1 }] });
  });

  test('on a test runner with fewer options uses those that it knows', async () => {
    const known =
      'for word in "$@"; do case $word in --run|run|--reporter=*|--outputFile.json=*) ;; *) exit 1;; esac; done';
    const report = json({ numPassedTests: 1, numFailedTests: 0, success: true, testResults: [] });
    const write =
      'for word in "$@"; do case $word in --outputFile.json=*) out=$(echo "$word" | cut -d= -f2);; esac; done';
    const program = `#!/bin/sh\n${known}\n${write}\necho '${report}' > "$out"\n`;
    fill({ test: 'vitest' }, { 'node_modules/.bin/vitest': program });
    chmodSync(projectTree.at('node_modules/.bin/vitest'), 0o755);
    expect((await call('run_tests')).structured).toMatchObject({ green: true, runs: [{ tool: 'vitest', passed: 1 }] });
  });
});

test.skipIf(!hasRust)(
  'tests that cannot be selected are run again with all others, which the answer says',
  async () => {
    projectTree.fill({ '': 'rust' });
    const wrong = '/// ```\n/// assert_eq!(1, 2);\n/// ```\npub fn documented() {}\n';
    projectTree.put('src/lib.rs', `${projectTree.read('src/lib.rs')}\n${wrong}`);
    expect((await call('run_tests')).structured).toMatchObject({ state: 'failed', runs: [{ failed: 1 }] });
    const again = await call('run_failing_tests');
    const note = 'all tests were run again: a test in the documentation cannot be picked by its name';
    expect(again.structured.runs[0].note).toBe(note);
    expect(again.text).toContain(note);
  },
);

describe.skipIf(!isReady)('a project', () => {
  test('with an invalid package.json is an error for tests and scripts', async () => {
    projectTree.fill({}, { 'package.json': '{ "scripts": { "test": "node --test", } }' });
    for (const [tool, args] of [
      ['run_tests', {}],
      ['run_script', { name: 'test' }],
      ['workspaces', {}],
    ] as const)
      expect((await call(tool, args)).text).toMatch(/package\.json is not valid JSON: .*(?:position|double-quoted)/);
  });

  test('without tests of its own names projects below that have some', async () => {
    fill({ build: 'true' }, {});
    for (const name of ['a', 'b']) {
      projectTree.put(`packages/${name}/package.json`, manifest({ test: 'node --test' }));
      projectTree.put(`packages/${name}/one.test.js`, tests({ one: true }));
    }
    projectTree.put('packages/none/package.json', manifest({}));
    const answer = await call('run_tests');
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain('these below it have tests: packages/a, packages/b; pass one as `path`');
    expect((await call('run_tests', { path: 'packages/b' })).structured).toMatchObject({ green: true });
  });

  test('is not found for a missing directory', async () => {
    fill({ where: 'pwd', test: 'node --test' }, { 'a.test.js': tests({ one: true }) });
    const calls = [
      ['run_script', { name: 'where' }],
      ['run_tests', {}],
      ['run_failing_tests', {}],
    ] as const;
    for (const [tool, args] of calls) {
      const answer = await call(tool, { ...args, path: 'packages/absent' });
      expect(answer.isError).toBe(true);
      expect(answer.text).toContain('no such file or directory: packages/absent');
    }
  });

  test('above the limit of projects is reported', async () => {
    projectTree.fill({}, { 'package.json': '{}' });
    for (let index = 0; index < 202; index++) projectTree.put(`packages/p${index}/package.json`, '{}');
    expect((await call('workspaces')).text).toContain('only the first 200 projects are known, and 3 more are not');
  });
});

test.skipIf(!hasMake)('with a Makefile for its sources gets the tests through the Makefile of the root', async () => {
  projectTree.fill(
    {},
    {
      Makefile: 'default:\n\tcd src && $(MAKE) $@\n.DEFAULT:\n\tcd src && $(MAKE) $@\n',
      'src/Makefile': 'default:\n\ttrue\ntest:\n\t./run $(NOTHING)\n',
      'src/run': '#!/bin/sh\nexit 0\n',
      'src/a.c': '',
    },
  );
  chmodSync(projectTree.at('src/run'), 0o755);
  expect((await call('run_tests')).structured).toMatchObject({ green: true, runs: [{ tool: 'make-test' }] });
  projectTree.put('src/run', '#!/bin/sh\nexit 1\n');
  expect((await call('run_tests')).structured).toMatchObject({ green: false, state: 'failed' });
});

test.skipIf(!hasMake)('counts tests of make although make has nothing to do elsewhere', async () => {
  const tests = 'test: all\n\t@./run\nall:\n\t@$(MAKE) -C src all\n';
  projectTree.fill({}, { Makefile: tests, 'src/Makefile': 'all:\n', 'a.c': '', run: '#!/bin/sh\necho all is well\n' });
  chmodSync(projectTree.at('run'), 0o755);
  expect((await call('run_tests')).structured).toMatchObject({ green: true, runs: [{ tool: 'make-test' }] });
  projectTree.put('Makefile', tests.replace('\t@./run\n', ''));
  expect((await call('run_tests')).structured).toMatchObject({ green: false, state: 'empty' });
});
