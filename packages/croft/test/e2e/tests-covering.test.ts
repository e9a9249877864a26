import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';

const sign = `export function sign(x) {
  if (x < 0) {
    return 'minus';
  }
  if (x === 0) {
    return 'zero';
  }
  return 'plus';
}
`;

const testOf = (call: string) =>
  `import assert from 'node:assert';\nimport test from 'node:test';\nimport { sign } from '../src/sign.js';\n${call}\n`;

const project = {
  'package.json': '{"name":"demo","type":"module","scripts":{"test":"node --test"}}',
  'src/sign.js': sign,
  'other/sign.js': sign,
  'test/plus.test.js': testOf(`test('plus', () => assert.equal(sign(1), 'plus'));`),
  'test/minus.test.js': testOf(`test('minus', () => assert.equal(sign(-1), 'wrong'));`),
};

async function covering(session: McpSession, file: string, line = 0) {
  return session.call('tests_covering', { file, line });
}

test('names the test files that ran a line, none for a line that did not run, also after a restart', async () => {
  using directory = makeDirectory(project);
  using data = makeDirectory();
  const args = ['--workspace', directory.path];
  const env = { CROFT_DATA: data.path };
  {
    await using session = await connectStdio(args, { env });
    await session.client.listTools();
    expect((await covering(session, 'src/sign.js')).text).toBe(
      'no coverage data yet — run `run_tests` first, with `coverage: true`',
    );
    const plain = await session.call('run_tests');
    expect(plain.structured.coverage).toBeUndefined();
    expect((await covering(session, 'src/sign.js')).structured).toMatchObject({ hasCoverage: false });

    const ran = await session.call('run_tests', { coverage: true });
    expect(ran.structured).toMatchObject({
      state: 'failed',
      coverage: [{ tool: 'V8', measured: ['test/minus.test.js', 'test/plus.test.js'], notMeasured: [] }],
    });
    expect(ran.text).toContain('2 test file(s) measured with V8');
  }
  await using session = await connectStdio(args, { env });
  expect((await covering(session, 'src/sign.js', 8)).text).toBe(
    '1 test file(s) cover src/sign.js:8:\n\ntest/plus.test.js',
  );
  expect((await covering(session, './src/sign.js', 3)).structured).toMatchObject({ tests: ['test/minus.test.js'] });
  expect((await covering(session, directory.at('src/sign.js'))).structured).toMatchObject({
    ...{ file: 'src/sign.js', tests: ['test/minus.test.js', 'test/plus.test.js'] },
    ...{ isStale: false, notMeasured: 0 },
  });
  expect((await covering(session, 'src/sign.js', 6)).text).toBe('no coverage found for src/sign.js:6');
  expect((await covering(session, 'other/sign.js')).text).toBe('no coverage found for other/sign.js');
  expect((await covering(session, 'sign.js')).text).toBe('no coverage found for sign.js');
});

test('reports changes since the run, and leaves out tests that are gone', async () => {
  using directory = makeDirectory(project);
  await using session = await connectStdio(['--workspace', directory.path]);
  await session.call('run_tests', { coverage: true });
  writeFileSync(directory.at('src/sign.js'), `// new\n${sign}`);
  writeFileSync(directory.at('test/plus.test.js'), `${project['test/plus.test.js']}// new\n`);
  rmSync(directory.at('test/minus.test.js'));
  const { text, structured } = await covering(session, 'src/sign.js');
  expect(structured).toMatchObject({ tests: ['test/plus.test.js'], isStale: true });
  expect(text).toContain('src/sign.js has changed since coverage was taken');
  expect(text).toContain('changed since coverage was taken: test/plus.test.js');

  // One file alone is measured anew; of the others what is known stays.
  await session.call('run_tests', { coverage: true, files: ['test/plus.test.js'] });
  const after = await covering(session, 'src/sign.js', 9);
  expect(after.structured).toMatchObject({ tests: ['test/plus.test.js'] });
});

test('a test file that cannot be measured is reported and counted, and the verdict on the tests is unchanged', async () => {
  using directory = makeDirectory({
    ...project,
    'test/minus.test.js': `process.abort();\n`,
  });
  await using session = await connectStdio(['--workspace', directory.path]);
  const { text, structured } = await session.call('run_tests', { coverage: true });
  expect(structured.state).not.toBe('passed');
  expect(structured.coverage).toMatchObject([
    { measured: ['test/plus.test.js'], notMeasured: [{ file: 'test/minus.test.js' }] },
  ]);
  expect(text).toContain('not measured (1):');
  const asked = await covering(session, 'src/sign.js', 3);
  expect(asked.text).toBe(
    'no coverage found for src/sign.js:3\n\n1 test file(s) were not measured and are not counted',
  );
});

test('measuring ends at the timeout of the call, and reports the test files that are left', async () => {
  using directory = makeDirectory({ ...project, 'test/minus.test.js': 'setInterval(() => {}, 1000);\n' });
  await using session = await connectStdio(['--workspace', directory.path]);
  const { structured } = await session.call('run_tests', { coverage: true, timeout: 2 });
  expect(structured.state).toBe('broken');
  expect(structured.coverage).toMatchObject([
    {
      measured: [],
      notMeasured: [{ reason: 'time ran out' }, { reason: 'time ran out' }],
    },
  ]);
});

test('a test runner that cannot be measured is reported', async () => {
  using directory = makeDirectory({ 'package.json': '{"scripts":{"test":"true"}}' });
  await using session = await connectStdio(['--workspace', directory.path]);
  const { text } = await session.call('run_tests', { coverage: true });
  expect(text).toContain('coverage: not measured: no coverage tool for script');
  expect((await covering(session, 'a.js')).structured).toMatchObject({ hasCoverage: false, tests: [] });
});

test('a file outside of the workspace is refused', async () => {
  using directory = makeDirectory(project);
  await using session = await connectStdio(['--workspace', directory.path]);
  const { isError, structured } = await covering(session, '../../etc/passwd');
  expect(isError).toBe(true);
  expect(structured.error.code).toBe('E_SANDBOX_VIOLATION');
});

const hasGo = spawnSync('go', ['version']).status === 0;

test.skipIf(!hasGo)(
  'Go: counts what ran, by test file, and keeps two files called util.go apart',
  async () => {
    using directory = makeDirectory({
      'go.mod': 'module example.com/demo\n\ngo 1.19\n',
      'util/util.go':
        'package util\n\nfunc Sign(x int) string {\n\tif x < 0 {\n\t\treturn "minus"\n\t}\n\treturn "plus"\n}\n',
      'b/util/util.go': 'package util\n\nfunc Sign(x int) string {\n\treturn "other"\n}\n',
      'util/plus_test.go': 'package util\n\nimport "testing"\n\nfunc TestPlus(t *testing.T) { Sign(1) }\n',
      'util/minus_test.go': 'package util\n\nimport "testing"\n\nfunc TestMinus(t *testing.T) { Sign(-1) }\n',
      'b/util/util_test.go': 'package util\n\nimport "testing"\n\nfunc TestNothing(t *testing.T) {}\n',
    });
    await using session = await connectStdio(['--workspace', directory.path]);
    const ran = await session.call('run_tests', { coverage: true });
    expect(ran.structured).toMatchObject({ state: 'passed', coverage: [{ notMeasured: [] }] });
    expect((await covering(session, 'util/util.go', 5)).structured.tests).toEqual(['util/minus_test.go']);
    expect((await covering(session, 'util/util.go', 7)).structured.tests).toEqual(['util/plus_test.go']);
    expect((await covering(session, 'b/util/util.go')).text).toBe('no coverage found for b/util/util.go');
  },
  120_000,
);
