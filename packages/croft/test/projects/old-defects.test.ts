import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { hasToolchains } from '../support/toolchains.ts';
import { lineWith, shareProjects } from './project.ts';

const hasGo = await hasToolchains('go');
const hasNode = await hasToolchains('node');
const hasRust = await hasToolchains('rust', 'rustfmt');
const { projectTree, call } = shareProjects({}, { flags: ['--format-on-edit'] });

const goModule = { 'go.mod': 'module example.com/probe.v1\n\ngo 1.19\n' };
const goTest = (name: string, body: string) =>
  `package probe\n\nimport "testing"\n\nfunc ${name}(t *testing.T) {\n${body}\n}\n`;

describe('sandbox 5.1', () => {
  test.skipIf(!hasGo)(
    '1: run_failing_tests runs failed Go tests again, and does not report them as fixed',
    async () => {
      const table = '\tt.Run("a/b c", func(t *testing.T) { t.Error("bad") })\n\tt.Run("fine", func(t *testing.T) {})';
      projectTree.fill(
        {},
        {
          ...goModule,
          'inner/table_test.go': goTest('TestTable', table),
          'inner/fine_test.go': goTest('TestFine', ''),
          'other/other_test.go': goTest('TestTable', ''),
        },
      );
      expect((await call('run_tests')).structured).toMatchObject({
        state: 'failed',
        runs: [{ passed: 3, failed: 1 }],
      });
      const again = (await call('run_failing_tests')).structured;
      expect(again).toMatchObject({ state: 'failed', runs: [{ passed: 0, failed: 1 }] });
      expect(again.runs[0].failures).toMatchObject([{ name: 'TestTable/a/b_c', file: 'inner/table_test.go', line: 6 }]);
      expect((await call('last_test_failures')).text).toMatch(/^1 test failure/);
    },
  );

  test.skipIf(!hasNode)('2: a failed lint script and a missing linter are not green on Node', async () => {
    const manifest = (scripts: Record<string, string>) => JSON.stringify({ name: 'x', scripts });
    projectTree.fill({}, { 'package.json': manifest({ lint: 'echo src/a.js is bad && exit 1' }) });
    const scripted = await call('run_lint');
    expect(scripted.structured.state ?? scripted.structured.error.code).toMatch(/^(findings|broken|unreadable|E_\w+)$/);

    projectTree.put('package.json', manifest({}));
    projectTree.put('eslint.config.cjs', 'module.exports = [];\n');
    const missing = await call('run_lint');
    expect(missing.structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { program: 'eslint' } });
    expect(missing.text).not.toContain('0 findings');
  });

  test.skipIf(!hasRust)('3: Rust findings are complete with compiler errors, and edits show them', async () => {
    projectTree.fill({ '': 'rust' });
    const source = projectTree.read('src/lib.rs');
    projectTree.put('src/lib.rs', `${source}\npub fn two() -> i32 {\n    return 2;\n}\n`);
    const loose = await call('run_lint');
    expect(loose.structured).toMatchObject({ state: 'warnings', findings: [{ file: 'src/lib.rs', line: 10 }] });
    expect(loose.text).not.toContain('incomplete');

    projectTree.put('src/lib.rs', source.replace('left + right', 'left + absent'));
    const broken = await call('run_lint');
    expect(broken.structured).toMatchObject({
      findings: [{ file: 'src/lib.rs', line: 2, rule: 'E0425', severity: 'error' }],
    });

    const edit = { file_path: 'src/lib.rs', content: source.replace('    left + right', '    return left + right;') };
    await call('read', { file_path: 'src/lib.rs' });
    const written = await call('write', edit);
    expect(written.text).toMatch(/^post-edit lint findings \(1\):\nsrc\/lib\.rs:2:5:clippy::needless_return: /m);
  });

  test.skipIf(!hasGo)(
    '11: code that did not run is not covered, nor is a file of the same name elsewhere',
    async () => {
      const util = 'package probe\n\nfunc Used() int {\n\treturn 1\n}\n\nfunc Unused() int {\n\treturn 2\n}\n';
      projectTree.fill(
        {},
        {
          ...goModule,
          'one/util.go': util,
          'one/util_test.go': goTest('TestUsed', '\tUsed()'),
          'two/util.go': util,
          'two/other_test.go': goTest('TestOther', ''),
        },
      );
      expect((await call('run_tests', { coverage: true })).structured.state).toBe('passed');
      const covering = async (file: string, line: number) =>
        (await call('tests_covering', { file, line })).structured.tests.join();
      expect(await covering('one/util.go', lineWith(util, 'return 1'))).toMatch(/^one\b/);
      expect(await covering('one/util.go', lineWith(util, 'return 2'))).toBe('');
      expect(await covering('two/util.go', lineWith(util, 'return 1'))).toBe('');
      expect(await covering('util.go', lineWith(util, 'return 1'))).toBe('');
    },
  );

  test.skipIf(!hasGo)('12: a failure after megabytes of output is found, and so is a failed build', async () => {
    const loud =
      '\tfor i := 0; i < 20000; i++ {\n\t\tt.Log("a line of some eighty characters that nobody is ever going to read, not even once")\n\t}';
    projectTree.fill(
      {},
      { ...goModule, 'a_test.go': goTest('TestLoud', loud), 'b_test.go': goTest('TestLast', '\tt.Error("bad")') },
    );
    await call('run_tests');
    const last = await call('last_test_failures');
    expect(last.structured.runs[0].failures).toMatchObject([{ name: 'TestLast', file: 'b_test.go', line: 6 }]);

    projectTree.put('b_test.go', goTest('TestLast', '\tabsent()'));
    await call('run_tests');
    const broken = await call('last_test_failures');
    expect(broken.structured.runs[0]).toMatchObject({ state: 'broken', failures: [{ file: 'b_test.go', line: 6 }] });
    expect(broken.text).not.toContain('no failures');
  });

  test.skipIf(!hasRust)('15: prose is not formatted as Rust, and Rust is formatted by its edition', async () => {
    projectTree.fill({ '': 'rust' }, { 'README.md': '#  Sums\n' });
    await call('read', { file_path: 'README.md' });
    const prose = await call('write', { file_path: 'README.md', content: '#   Sums  \nfn  x( ) { }\n' });
    expect(prose.text).not.toMatch(/--- format ---|post-edit|error/);
    expect(projectTree.read('README.md')).toBe('#   Sums  \nfn  x( ) { }\n');

    const modern = 'pub async fn later() -> i32 {\n    1\n}\n';
    projectTree.put('tests/later.rs', modern);
    const check = await call('run_format', { check: true, files: ['tests/later.rs'] });
    expect(check.structured.runs).toMatchObject([{ exitCode: 0 }]);
    projectTree.put('tests/later.rs', modern.replace('    1', ' 1'));
    const ugly = await call('run_format', { check: true, files: ['tests/later.rs'] });
    expect(ugly.structured.runs).toMatchObject([{ exitCode: 1 }]);
  });
});

describe('acolyte C1', () => {
  const patient =
    "import { test } from 'node:test';\ntest('patient', () => new Promise((done) => setTimeout(done, 10_500)));\n";
  const stubborn = [
    "import { spawn } from 'node:child_process';",
    "import { test } from 'node:test';",
    "test('stubborn', () => {",
    "  spawn('sh', ['-c', 'exec 3>held; echo up >&3; sleep 300'], { detached: true, stdio: 'ignore' });",
    '  return new Promise((done) => setTimeout(done, 300_000));',
    '});',
    '',
  ].join('\n');

  test.skipIf(!hasNode)(
    '11: tests may take longer than ten seconds, and a timeout ends everything they started',
    async () => {
      const manifest = JSON.stringify({ name: 'x', type: 'module', scripts: { test: 'node --test' } });
      projectTree.fill({}, { 'package.json': manifest, 'patient.test.js': patient, 'stubborn.test.js': stubborn });
      execFileSync('mkfifo', [projectTree.at('held')]);
      const written = text(createReadStream(projectTree.at('held')));
      const [long, cut] = await Promise.all([
        call('test-run', { files: ['patient.test.js'] }),
        call('run_tests', { files: ['stubborn.test.js'], timeout: 9 }),
      ]);
      expect(long.structured).toMatchObject({ state: 'passed', runs: [{ passed: 1 }] });
      expect(cut.structured).toMatchObject({ state: 'broken', runs: [{ timedOut: true }] });
      expect(await written).toBe('up\n');
    },
  );

  test.skipIf(!hasRust || !hasGo)(
    '12: one file of Rust, or files of two Go packages, are tested and linted alone',
    async () => {
      projectTree.fill({ rust: 'rust', go: 'go', 'go/inner': 'go' });
      projectTree.remove('go/inner/go.mod');
      const rust = await call('run_tests', { files: ['rust/tests/sums.rs'] });
      expect(rust.structured).toMatchObject({ state: 'passed', runs: [{ passed: 3 }] });
      const one = await call('run_tests', { files: ['rust/tests/sums.rs'], name: 'adds' });
      expect(one.structured).toMatchObject({ state: 'passed', runs: [{ passed: 1 }] });
      const linted = await call('run_lint', { files: ['rust/src/lib.rs'] });
      expect(linted.structured).toMatchObject({ state: 'clean', findings: [] });

      const files = ['go/sums_test.go', 'go/inner/sums_test.go'];
      expect((await call('run_tests', { files })).structured).toMatchObject({
        state: 'passed',
        runs: [{ passed: 6 }],
      });
      expect((await call('run_lint', { files })).structured).toMatchObject({ state: 'clean', findings: [] });
    },
  );

  test.skipIf(!hasGo)(
    '13: a missing linter is no finding, and a finding with the text "not found" is one',
    async () => {
      const wrong = 'package probe\n\nimport "fmt"\n\nfunc Show() {\n\tfmt.Printf("%d", "not found")\n}\n';
      projectTree.fill({}, { ...goModule, 'show.go': wrong, '.golangci.yml': 'version: "2"\n' });
      const missing = await call('run_lint');
      expect(missing.structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { program: 'golangci-lint' } });
      expect(missing.text).not.toContain('null');

      projectTree.remove('.golangci.yml');
      const real = (await call('run_lint')).structured;
      expect(real).toMatchObject({
        state: 'findings',
        findings: [{ file: 'show.go', line: 6, message: expect.stringContaining('"not found"') }],
      });
    },
  );

  test.skipIf(!hasGo)('14: a deleted file, and a file without a linter, is not linted after the call', async () => {
    projectTree.fill({ '': 'go' });
    await call('run_lint');
    const broken = await call('write', { file_path: 'wrong.go', content: 'package sums\n\nvar x int = "y"\n' });
    expect(broken.text).toMatch(/^post-edit lint findings \(1\):\nwrong\.go:3:/m);
    const notes = await call('write', { file_path: 'notes.txt', content: 'package sums\n' });
    expect(notes.text).not.toMatch(/post-edit|--- format/);
    const gone = await call('delete', { path: 'wrong.go' });
    expect(gone.isError).toBe(false);
    expect(gone.text).not.toMatch(/post-edit|--- format|no such file/);
  });

  const gaps: readonly (readonly [file: string, content: string, profile: Record<string, unknown>, also?: string])[] = [
    [
      'biome.jsonc',
      '{ "$schema": "https://biomejs.dev/schema.json" /* x */ }',
      { lint: expect.stringContaining('biome') },
    ],
    ['.prettierrc', '', { format: expect.stringContaining('prettier') }],
    ['.prettierrc', 'semi: false\n', { format: expect.stringContaining('prettier') }],
    ['prettier.config.mjs', 'export default {};', { format: expect.stringContaining('prettier') }],
    ['.oxlintrc.json', '{}', { lint: expect.stringContaining('oxlint') }],
    ['.eslintrc.cjs', 'module.exports = {};', { lint: expect.stringContaining('eslint') }],
    ['.eslintrc.yml', 'root: true', { lint: expect.stringContaining('eslint') }],
    ['eslint.config.cjs', 'module.exports = [];', { lint: expect.stringContaining('eslint') }],
    ['package.json', '{"scripts":{"test":"mocha"}}', { test: expect.stringContaining('mocha') }],
    ['package.json', '{"scripts":{"test":"ava"}}', { test: expect.stringContaining('ava') }],
    ['package.json', '{"scripts":{"test":"node --test"}}', { test: expect.stringContaining('node --test') }],
    [
      'deno.jsonc',
      '{ /* x */ }',
      { lint: expect.stringContaining('deno lint'), install: expect.not.stringContaining('npm') },
    ],
    ['pyproject.toml', '[tool.ruff.lint]\nselect = ["E"]\n', { lint: expect.stringContaining('ruff check') }],
    ['requirements.txt', 'x\n', { language: 'python' }, 'main.py'],
    ['setup.cfg', '[metadata]\nname = x\n', { language: 'python' }, 'main.py'],
    ['pom.xml', '<project/>', { language: 'java', test: expect.stringContaining('mvn') }],
    ['build.gradle.kts', 'plugins { kotlin("jvm") }', { ecosystem: 'kotlin', test: expect.stringContaining('gradle') }],
    ['App.csproj', '<Project/>', { language: 'dotnet', test: expect.stringContaining('dotnet test') }],
    ['Gemfile', "gem 'rspec'\n", { language: 'ruby', test: expect.stringContaining('rspec') }],
    ['composer.json', '{"require-dev":{"phpunit/phpunit":"^10"}}', { test: expect.stringContaining('phpunit') }],
    ['mix.exs', 'defmodule X do end', { language: 'elixir', test: expect.stringContaining('mix test') }],
    ['Package.swift', '', { language: 'swift', test: expect.stringContaining('swift test') }],
    ['CMakeLists.txt', 'project(x)', { language: 'cpp', test: expect.stringContaining('ctest') }],
    ['build.zig', '', { language: 'zig', test: expect.stringContaining('zig build test') }],
    ['croft.toml', '[commands]\ntest = ["./check", "all"]\n', { test: './check all' }, 'go.mod'],
  ];

  test('15: findings missed before are found, below the root too; changes.test.ts covers later changes', async () => {
    projectTree.fill({});
    const isNodeSetting = (file: string) => /biome|prettier|oxlint|eslint/.test(file);
    const directories = gaps.map(([file, content, , also], index) => {
      const directory = `parts/p${String(index).padStart(2, '0')}`;
      projectTree.put(`${directory}/${file}`, content);
      if (isNodeSetting(file)) projectTree.put(`${directory}/package.json`, '{}');
      if (also !== undefined) projectTree.put(`${directory}/${also}`, '');
      return directory;
    });
    const [{ profile }] = (await call('workspaces')).structured.workspaces;
    for (const [index, [file, , expected]] of gaps.entries()) {
      const found = profile.projects.find(({ directory }: { directory: string }) => directory === directories[index]);
      expect(found, `${file} is no project`).toBeDefined();
      expect(found, file).toMatchObject(expected);
    }
    for (const { install } of profile.projects) expect(install ?? '').not.toMatch(/npx|pnpx|dlx|bunx/);
  });
});
