import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import { installBiome, makeProject, replay, script } from '../support/lint-fixture.ts';

const manifest = '{"name":"x","type":"module"}';
const eslintConfig = 'export default [];';
const withEslint = (program: string, more: Record<string, string> = {}) =>
  makeProject({
    'package.json': manifest,
    'eslint.config.js': eslintConfig,
    'node_modules/.bin/eslint': program,
    'src/bad.js': 'const unused = 1;\n',
    ...more,
  });

async function connect(directory: string) {
  const session = await connectStdio(['--workspace', directory, '--sandbox', 'bubblewrap']);
  await session.client.listTools();
  return session;
}

describe('with the real linter', () => {
  test('findings have a file, a line and a rule, and are counted', async () => {
    using project = makeProject({
      'package.json': manifest,
      'biome.json': '{}',
      'src/bad.js': 'const unused = 1;\ndebugger;\n',
      'src/good.js': 'export const fine = 1;\n',
    });
    installBiome(project.path);
    await using session = await connect(project.path);
    const { text, structured, isError } = await session.call('run_lint');
    expect(isError).toBe(false);
    expect(text.split('\n')).toEqual([
      expect.stringMatching(/^src\/bad\.js:1:7:lint\/correctness\/noUnusedVariables: /),
      expect.stringMatching(/^src\/bad\.js:2:1:lint\/suspicious\/noDebugger: /),
      '2 findings',
      '',
    ]);
    expect(structured).toMatchObject({ state: 'findings', runs: [{ tool: 'biome', exitCode: 1, state: 'findings' }] });
    expect(structured.findings[1]).toMatchObject({ file: 'src/bad.js', line: 2, column: 1, severity: 'error' });

    const good = await session.call('run_lint', { files: ['src/good.js'] });
    expect(good).toMatchObject({ text: '0 findings\n', structured: { state: 'clean', findings: [] } });
    const gone = await session.call('run_lint', { files: ['src/gone.js'] });
    expect(gone.structured.state).toBe('broken');
  });

  const hasClippy = spawnSync('cargo', ['clippy', '--version']).status === 0;
  test.skipIf(!hasClippy)('errors of clippy and of the compiler are findings and no failure', async () => {
    using project = makeDirectory({
      'Cargo.toml': '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/main.rs': 'mod other;\nfn main() {\n    let v = vec![1];\n    if v.len() == 0 {}\n    other::f();\n}\n',
      'src/other.rs': 'pub fn f() {}\n',
    });
    await using session = await connect(project.path);
    const denied = await session.call('run_lint');
    expect(denied.structured, denied.text).toMatchObject({ state: 'warnings', runs: [{ exitCode: 0 }] });
    expect(denied.text).toMatch(/^src\/main\.rs:4:8:clippy::len_zero: .*$/m);
    expect(denied.text).not.toContain('incomplete');

    using broken = makeDirectory({
      'Cargo.toml': '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/main.rs': 'mod other;\nfn main() {\n    println!("{}", nowhere);\n}\n',
      'src/other.rs': 'pub fn f() {}\n',
    });
    await using second = await connect(broken.path);
    const all = await second.call('run_lint');
    expect(all.text).toMatch(/^src\/main\.rs:3:20:E0425: cannot find value `nowhere` in this scope.*$/m);
    expect(all.structured.findings[0].severity).toBe('error');
    // The error is why nothing is said of the other file, which is no proof that it is clean.
    const other = await second.call('run_lint', { files: ['src/other.rs'] });
    expect(other.structured).toMatchObject({ state: 'broken', findings: [] });
    expect(other.text).toContain('(lint incomplete: clippy: ');
  });
});

describe('a lint result is never falsely green:', () => {
  const said = '[{"filePath":"src/bad.js","messages":[{"ruleId":"r","severity":2,"message":"m","line":1,"column":2}]}]';
  let project: ReturnType<typeof withEslint>;
  let session: McpSession;
  beforeAll(async () => {
    project = withEslint(script('exit 1'));
    session = await connect(project.path);
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    project[Symbol.dispose]();
  });
  const lintWith = (program: string, args: Record<string, unknown> = {}) => {
    writeFileSync(project.at('node_modules/.bin/eslint'), program);
    return session.call('run_lint', args);
  };

  test('a linter that is not installed is reported, with the command that installs it', async () => {
    using bare = makeProject({
      'package.json': '{"name":"x","scripts":{"lint":"eslint ."}}',
      'eslint.config.js': eslintConfig,
    });
    await using own = await connect(bare.path);
    const { isError, structured, text } = await own.call('run_lint');
    expect(isError).toBe(true);
    expect(structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { install: 'npm install' } });
    expect(text).toMatch(/^run_lint: .*eslint: not found on PATH; it may come with: npm install\nNext: /);
  });

  test('a finding that something is not found is a finding', async () => {
    const { isError, structured, text } = await lintWith(replay('eslint', 'findings'));
    expect(isError).toBe(false);
    expect(structured.state).toBe('findings');
    expect(text).toContain("src/bad.js:2:13:no-undef: 'not_found' is not defined.\n4 findings\n");
  });

  test('a launcher that cannot find the linter is an error', async () => {
    const body = "echo 'sh: 1: eslint: not found' >&2; exit 127";
    const { structured } = await lintWith(script(body));
    expect(structured.error).toMatchObject({
      code: 'E_TOOL_MISSING',
      message: expect.stringMatching(/^run_lint: eslint: not found on PATH; /),
    });
  });

  test.each([
    ['says nothing', 'exit 0', 'unreadable'],
    ['answers in words', 'echo all fine; exit 0', 'unreadable'],
    ['answers as a lint script does', 'echo "✖ 4 problems (3 errors, 1 warning)"; exit 1', 'broken'],
    ['has looked at no file', 'echo "[]"; exit 0', 'broken'],
    ['crashes after a clean answer', 'echo \'[{"filePath":"/a.js","messages":[]}]\'; kill -9 $$', 'broken'],
    ['fails after a clean answer', 'echo \'[{"filePath":"/a.js","messages":[]}]\'; exit 2', 'broken'],
  ])('a linter that %s is not clean', async (_, body, state) => {
    const { structured, text } = await lintWith(script(body));
    expect(structured).toMatchObject({ state, findings: [] });
    expect(text).toMatch(/^\(lint incomplete: eslint: .+\)\n/);
    expect(text).not.toContain('findings');
  });

  test('a linter with more output than can be stored is not clean', async () => {
    const flood = 'head -c 20000000 /dev/zero | tr "\\0" x >&2';
    const { structured } = await lintWith(script(`${flood}; echo '[{"filePath":"/a.js","messages":[]}]'`));
    expect(structured.state).toBe('unreadable');
  });

  test('a linter that does not end is stopped, with its output so far', async () => {
    const { structured, text } = await lintWith(script(`echo '${said}'; sleep 600`), { timeout: 1 });
    expect(structured).toMatchObject({ state: 'broken', findings: [{ file: 'src/bad.js' }] });
    expect(text).toBe(
      '(lint incomplete: eslint: timed out after 1s)\nsrc/bad.js:1:2:r: m\n1 findings, and perhaps more\n',
    );
  });

  test('a failure after some findings shows them, and says that there may be more', async () => {
    const { structured, text } = await lintWith(script(`echo '${said}'; echo boom >&2; exit 2`));
    expect(structured).toMatchObject({ state: 'broken', findings: [{ rule: 'r' }] });
    expect(text).toBe('(lint incomplete: eslint: exit 2: boom)\nsrc/bad.js:1:2:r: m\n1 findings, and perhaps more\n');
  });
});

describe('run_typecheck', () => {
  test('of some files leaves out errors in others, and runs the whole project', async () => {
    using project = makeProject({
      'package.json': manifest,
      'tsconfig.json': '{}',
      'src/bad.ts': '',
      'src/good.ts': '',
      'node_modules/.bin/tsc': replay('tsc', 'findings'),
    });
    await using session = await connect(project.path);
    const bad = await session.call('run_typecheck', { files: ['src/bad.ts'] });
    expect(bad.text).toMatch(/^src\/bad\.ts:1:14:TS2322: .*\n.*\n.*\n3 findings\n$/);
    const good = await session.call('run_typecheck', { files: ['src/good.ts'] });
    expect(good.structured).toMatchObject({ state: 'clean', findings: [] });
    for (const args of project.calls()) expect(args).not.toContain('src/');
  });

  test('without a type checker reports that', async () => {
    using project = makeProject({ 'package.json': manifest });
    await using session = await connect(project.path);
    const { structured } = await session.call('run_typecheck');
    expect(structured.error).toMatchObject({ code: 'E_NO_PROJECT', message: 'no typecheck command detected (node)' });
  });
});

describe('several projects', () => {
  test('each project answers for its own files, and one without a linter does not silence the others', async () => {
    using project = makeProject({
      'app/package.json': manifest,
      'app/eslint.config.js': eslintConfig,
      'app/node_modules/.bin/eslint': replay('eslint', 'findings'),
      'app/src/bad.js': '',
      'web/package.json': manifest,
      'web/eslint.config.js': eslintConfig,
    });
    await using session = await connect(project.path);
    const all = await session.call('run_lint', { language: 'all' });
    expect(all.structured).toMatchObject({ state: 'broken', runs: [{ state: 'findings' }, { state: 'broken' }] });
    expect(all.text).toContain('app/src/bad.js:1:7:no-unused-vars: ');
    expect(all.text).toMatch(/^\(lint incomplete: eslint: run_lint: eslint: not found on PATH; /);
    expect(all.text).toContain('\n4 findings, and perhaps more\n');
    const some = await session.call('run_lint', { files: ['app/src/bad.js'] });
    expect(some.structured.runs).toMatchObject([{ directory: 'app', command: expect.arrayContaining(['src/bad.js']) }]);
  });
});
