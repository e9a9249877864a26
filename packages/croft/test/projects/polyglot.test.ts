import { describe, expect, test } from 'vitest';
import { hasToolchains } from '../support/toolchains.ts';
import { addBiome, shareProjects } from './project.ts';

const isReady = await hasToolchains('go', 'node', 'python');
const hasFlake8 = isReady && (await hasToolchains('flake8'));
const hasMypy = isReady && (await hasToolchains('mypy'));

describe.skipIf(!isReady)('a tree with a Go service, a Node app and a Python package', () => {
  const directories = { 'services/api': 'go', 'apps/web': 'node', 'libs/py': 'python' };
  const { projectTree, call } = shareProjects(directories, {
    flags: ['--format-on-edit'],
    prepare(projects) {
      projects.put('apps/web/biome.json', JSON.stringify({ files: { includes: ['**', '!node_modules'] } }));
      addBiome(projects, 'apps/web');
    },
  });

  test('has three projects, each with its own tools', async () => {
    const { structured } = await call('workspaces');
    const [{ profile }] = structured.workspaces;
    expect(profile.projects).toHaveLength(3);
    expect(profile.projects).toMatchObject([
      { language: 'node', directory: 'apps/web', lint: expect.stringContaining('biome') },
      { language: 'python', directory: 'libs/py', test: expect.stringContaining('pytest') },
      { language: 'go', directory: 'services/api', test: expect.stringContaining('go test') },
    ]);
    expect(profile.ecosystems.toSorted()).toEqual(['go', 'javascript', 'python']);
  });

  test.each(['run_tests', 'run_lint', 'run_failing_tests'])('%s asks for the project', async (tool) => {
    const answer = await call(tool);
    expect(answer).toMatchObject({
      isError: true,
      structured: {
        error: {
          code: 'E_LANGUAGE_REQUIRED',
          message: 'polyglot workspace: 3 project types detected (go, node, python) — pass `language` to pick one',
        },
      },
    });
  });

  test('an unknown language is refused with the known ones', async () => {
    const answer = await call('run_tests', { language: 'rust' });
    expect(answer).toMatchObject({
      isError: true,
      structured: { error: { message: 'language "rust" not detected in workspace; detected: go, node, python' } },
    });
  });

  test.each([
    [{ language: 'go' }, 'go', 'services/api'],
    [{ language: ' Golang ' }, 'go', 'services/api'],
    [{ language: 'typescript' }, 'node', 'apps/web'],
    [{ language: 'py' }, 'python', 'libs/py'],
    [{ path: 'services' }, 'go', 'services/api'],
    [{ path: 'apps/web/src/sums.js' }, 'node', 'apps/web'],
    [{ files: ['libs/py/test_sums.py'] }, 'python', 'libs/py'],
    [{ files: ['services/api/sums_test.go'] }, 'go', 'services/api'],
    [{ files: ['apps/web/test/sums.test.js'] }, 'node', 'apps/web'],
  ])('run_tests with %o runs the tests of %s alone', async (choice, language, directory) => {
    const { structured } = await call('run_tests', choice);
    expect(structured).toMatchObject({ state: 'passed', runs: [{ language, directory, passed: 3 }] });
    expect(structured.runs).toHaveLength(1);
  });

  test('all projects give one run each, and the worst result is the answer', async () => {
    const source = projectTree.read('libs/py/sums.py');
    projectTree.put('libs/py/sums.py', source.replace('left + right', 'left - right - 1'));
    const { structured } = await call('run_tests', { language: 'all' });
    expect(structured.state).toBe('failed');
    expect(structured.runs).toHaveLength(3);
    expect(structured.runs).toMatchObject([
      { language: 'node', directory: 'apps/web', state: 'passed', passed: 3 },
      {
        language: 'python',
        directory: 'libs/py',
        state: 'failed',
        failures: [{ file: 'libs/py/test_sums.py', line: 5 }],
      },
      { language: 'go', directory: 'services/api', state: 'passed', passed: 3 },
    ]);

    const again = (await call('run_failing_tests', { language: 'all' })).structured;
    expect(again).toMatchObject({ state: 'failed', runs: [{ language: 'python', passed: 0, failed: 1 }] });
    expect(again.runs).toHaveLength(1);
    expect((await call('run_failing_tests', { language: 'go' })).text).toContain('nothing to rerun (go)');

    projectTree.put('libs/py/sums.py', source);
    expect((await call('run_failing_tests', { language: 'python' })).structured.state).toBe('passed');
    expect((await call('last_test_failures', { language: 'all' })).text).not.toContain('test failure(s)');
  });

  test('a project that does not build is reported beside the results of the others', async () => {
    const source = projectTree.read('services/api/sums.go');
    projectTree.put('services/api/sums.go', source.replace('left + right', 'left + absent'));
    const { structured } = await call('run_tests', { language: 'all' });
    projectTree.put('services/api/sums.go', source);
    expect(structured.state).toBe('broken');
    expect(structured.runs.map((run: { language: string; state: string }) => [run.language, run.state])).toEqual([
      ['node', 'passed'],
      ['python', 'passed'],
      ['go', 'broken'],
    ]);
    expect(structured.runs[2].failures).toMatchObject([{ file: 'services/api/sums.go', line: 4, isBuild: true }]);
  });

  test('a project with a missing test runner, and files of two projects, do not stop the others', async () => {
    const manifest = projectTree.read('apps/web/package.json');
    projectTree.put('apps/web/package.json', JSON.stringify({ name: 'web', scripts: { test: 'vitest' } }));
    const all = (await call('run_tests', { language: 'all' })).structured;
    projectTree.put('apps/web/package.json', manifest);
    expect(all).toMatchObject({
      state: 'broken',
      runs: [
        { language: 'node', state: 'broken', reason: expect.stringContaining('run_tests: vitest: not found on PATH') },
        { language: 'python', state: 'passed' },
        { language: 'go', state: 'passed' },
      ],
    });
    const files = ['services/api/sums_test.go', 'apps/web/test/sums.test.js'];
    const both = (await call('run_tests', { files })).structured;
    expect(both).toMatchObject({
      state: 'passed',
      runs: [
        { language: 'go', passed: 3 },
        { language: 'node', passed: 3 },
      ],
    });
  });

  test.skipIf(!hasFlake8)(
    'run_lint of all has the findings of each linter, with paths from the workspace',
    async () => {
      const clean = (await call('run_lint', { language: 'all' })).structured;
      expect(clean).toMatchObject({ state: 'clean', findings: [] });
      projectTree.put('services/api/show.go', wrongFormat);
      projectTree.put('apps/web/src/loose.js', looseEquals);
      projectTree.put('libs/py/unused.py', unusedImport);
      const { structured } = await call('run_lint', { language: 'all' });
      for (const name of ['services/api/show.go', 'apps/web/src/loose.js', 'libs/py/unused.py'])
        projectTree.remove(name);
      expect(structured.state).toBe('findings');
      expect(structured.findings.toSorted(byFile)).toMatchObject([
        { file: 'apps/web/src/loose.js', line: 1 },
        { file: 'libs/py/unused.py', line: 1, rule: 'F401' },
        { file: 'services/api/show.go', line: 6 },
      ]);
      expect(structured.findings).toHaveLength(3);
    },
  );

  const edits = [
    ['services/api/show.go', () => wrongFormat, /services\/api\/show\.go:6:\d+:/],
    ['apps/web/src/loose.js', () => looseEquals, /apps\/web\/src\/loose\.js:1:\d+:\S*noDoubleEquals/],
    ...(hasFlake8 ? [['libs/py/unused.py', () => unusedImport, /libs\/py\/unused\.py:1:\d+:F401/] as const] : []),
  ] as const;

  test.each(edits)('an edit of %s is answered by its own linter alone', async (file, toText, finding) => {
    const { text, isError } = await call('write', { file_path: file, content: toText() });
    projectTree.remove(file);
    expect(isError).toBe(false);
    expect(text).toMatch(/^post-edit lint findings \(1\):$/m);
    expect(text).toMatch(finding);
    expect(text.match(/^\S+:\d+:\d+:/gm)).toHaveLength(1);
  });

  const ugly = [
    ['services/api/ugly.go', 'package sums\n\nvar  Ugly   = 1\n', 'package sums\n\nvar Ugly = 1\n'],
    ['apps/web/src/ugly.js', 'export const ugly   = 1\n', 'export const ugly = 1;\n'],
    ['libs/py/ugly.py', 'ugly = 1\n', 'ugly = 1\n'],
  ] as const;

  test.each(ugly)('an edit of %s is formatted by its own formatter, if it has one', async (file, content, tidy) => {
    const { text } = await call('write', { file_path: file, content });
    const after = projectTree.read(file);
    projectTree.remove(file);
    expect(after).toBe(tidy);
    expect(text.includes('--- format ---')).toBe(content !== tidy);
  });

  test('run_format changes the files it is given, by the formatter of each', async () => {
    for (const [file, content] of ugly) projectTree.put(file, content);
    const files = ['services/api/ugly.go', 'apps/web/src/ugly.js'];
    const check = (await call('run_format', { language: 'all', files, check: true })).structured;
    expect(check.runs.map(({ exitCode }: { exitCode: number }) => exitCode)).toEqual([1, 1]);
    const { structured } = await call('run_format', { language: 'all', files });
    const texts = ugly.map(([file]) => projectTree.read(file));
    for (const [file] of ugly) projectTree.remove(file);
    expect(structured.runs).toMatchObject([
      { language: 'go', exitCode: 0 },
      { language: 'node', exitCode: 0 },
    ]);
    expect(texts).toEqual(ugly.map(([, , tidy]) => tidy));
  });

  test.skipIf(!hasMypy)('run_typecheck of all asks those that have a type checker', async () => {
    projectTree.put('services/api/wrong.go', 'package sums\n\nvar Wrong int = "text"\n');
    projectTree.put('libs/py/wrong.py', 'wrong: int = "text"\n');
    const { structured } = await call('run_typecheck', { language: 'all' });
    for (const name of ['services/api/wrong.go', 'libs/py/wrong.py']) projectTree.remove(name);
    expect(structured.runs.map(({ language }: { language: string }) => language)).toEqual(['python', 'go']);
    expect(structured.findings).toMatchObject([
      { file: 'libs/py/wrong.py', line: 1, rule: 'assignment' },
      { file: 'services/api/wrong.go', line: 3 },
    ]);
  });

  test('run_script finds the project that has the script', async () => {
    const { structured } = await call('run_script', { name: 'test' });
    expect(structured).toMatchObject({ exitCode: 0, command: ['npm', 'run', 'test'] });
    expect((await call('run_script', { name: 'absent' })).text).toContain('no script named "absent"; available: test');
  });

  test('tests_covering answers for each project from measured runs', async () => {
    await call('run_tests', { language: 'all', coverage: true });
    const covering = async (file: string, line: number) =>
      (await call('tests_covering', { file, line })).structured.tests as string[];
    expect(await covering('services/api/sums.go', 4)).toEqual(['services/api/sums_test.go']);
    expect(await covering('apps/web/src/sums.js', 2)).toEqual(['apps/web/test/sums.test.js']);
    expect(await covering('apps/web/src/absent.js', 2)).toEqual([]);
  });

  test('an edit of a file outside of all projects is not linted', async () => {
    const { text, isError } = await call('write', { file_path: 'NOTES.md', content: 'x == y\n' });
    expect(isError).toBe(false);
    expect(text).not.toMatch(/post-edit|--- format/);
  });
});

const wrongFormat = 'package sums\n\nimport "fmt"\n\nfunc Show() {\n\tfmt.Printf("%d", "text")\n}\n';
const looseEquals = 'export const isSame = (one, other) => one == other;\n';
const unusedImport = 'import os\n';

function byFile(one: { file: string }, other: { file: string }): number {
  return one.file < other.file ? -1 : 1;
}
