import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detect, detectOne } from '../../test/support/memory-files.ts';
import { lintToolNames, testToolNames } from '../core/projects/guess-check-tool.ts';
import * as linters from '../linters/index.ts';
import * as runners from '../test-runners/index.ts';

const go = { 'go.mod': 'module x' };
const withFile = (text: string, rest: Record<string, string> = go) => detectOne({ ...rest, 'croft.toml': text });

describe('croft.toml', () => {
  test.each(['croft.toml', '.croft/config.toml'])('sets commands, as %s', async (name) => {
    const text = [
      '[commands]',
      'install = ["./setup"]',
      'format = ["fmt", "$FILES"]',
      'format_check = ["fmt", "--check"]',
      'test = ["pytest", "-q", "$FILES"]',
      'lint = ["./node_modules/.bin/eslint", "$FILES"]',
      '[commands.typecheck]',
      'argv = ["./types"]',
      'tool = "tsc"',
    ].join('\n');
    const profile = await detectOne({ ...go, [name]: text });
    expect(profile).toMatchObject({
      language: 'go',
      install: ['./setup'],
      format: ['fmt', '$FILES'],
      formatCheck: ['fmt', '--check'],
      test: { tool: 'pytest', argv: ['pytest', '-q', '$FILES'] },
      lint: { tool: 'eslint', argv: ['./node_modules/.bin/eslint', '$FILES'] },
      typecheck: { tool: 'tsc', argv: ['./types'] },
    });
    expect(profile.problems).toBeUndefined();
  });

  test.each([
    ['["go", "test", "-race", "$FILES"]', 'go-test'],
    ['["node", "--test"]', 'node-test'],
    ['["python3", "-m", "pytest"]', 'pytest'],
    ['["uv", "run", "pytest"]', 'pytest'],
    ['["bundle", "exec", "rspec"]', 'rspec'],
    ['["./run-tests"]', 'script'],
    ['["npm", "test"]', 'script'],
  ])('test = %s is parsed as output of %s', async (argv, tool) => {
    expect((await withFile(`[commands]\ntest = ${argv}`)).test?.tool).toBe(tool);
  });

  test('leaves the other commands as detected', async () => {
    const [before, after] = [await detectOne(go), await withFile('[commands]\ninstall = ["x"]')];
    expect(after).toEqual({ ...before, install: ['x'] });
  });

  test('holds for its own directory', async () => {
    const [root, inner] = await detect({ ...go, 'a/go.mod': '', 'a/croft.toml': '[commands]\ninstall = ["x"]' });
    expect(root?.install).toEqual(['go', 'mod', 'download']);
    expect(inner?.install).toEqual(['x']);
  });

  test('declares a project where none is detected', async () => {
    const text = '[project]\nlanguage = "Cobol"\nextensions = [".cbl"]\n[commands]\ntest = ["./t"]';
    expect(await withFile(text, {})).toEqual({
      ...{ language: 'cobol', ecosystem: 'cobol', directory: '', extensions: ['.cbl'], scripts: {} },
      test: { tool: 'script', argv: ['./t'] },
    });
    expect(await withFile('[commands]\ntest = ["./t"]', {})).toMatchObject({ language: 'custom' });
  });

  test('chooses between several tools, by any of their names', async () => {
    const both = { ...go, 'package.json': '{}' };
    const said = await detect({ ...both, 'croft.toml': '[project]\nlanguage = "ts"\n[commands]\ninstall = ["x"]' });
    expect(said.map(({ install }) => install?.[0])).toEqual(['go', 'x']);
    const unsaid = await detect({ ...both, 'croft.toml': '[commands]\ninstall = ["x"]' });
    expect(unsaid.map(({ install }) => install?.[0])).toEqual(['go', 'npm']);
    expect(unsaid[0]?.problems).toEqual([
      expect.stringMatching(/croft\.toml: go and node are here: say in \[project\]/),
    ]);
  });
});

describe('a wrong croft.toml', () => {
  test.each([
    ['[sandbox]\nnetwork = "allow-all"', /\[sandbox\] is refused: .* operator’s flags/],
    ['[network]\nallow = ["*"]', /"network" is not known/],
    ['[commands]\ndeploy = ["x"]', /commands\."deploy" is not known; there are install, format/],
    ['[commands]\ntest = "pytest -q"', /commands\.test must be an array .* a line for a shell is not run/],
    ['[commands]\ntest = []', /commands\.test must be an array/],
    ['[commands]\ntest = [""]', /commands\.test must be an array/],
    ['[commands]\ntest = ["a\\u0000b"]', /commands\.test must be an array/],
    ['[commands]\ninstall = [3]', /commands\.install must be an array/],
    ['[commands]\nlint = ["./lint"]', /commands\.lint needs `tool`/],
    [
      '[commands.lint]\nargv = ["./lint"]\ntool = "nobody"',
      /commands\.lint has an unknown tool "nobody"; there are eslint/,
    ],
    ['[commands.test]\nargv = ["x"]\nshell = true', /commands\.test must have `argv`/],
    ['commands = 3', /commands must be a table/],
    ['[project]\nlanguage = "all"', /project\.language must be a name/],
    ['[project]\nroot = "/"', /project\."root" is not known/],
    ['[commands', /croft\.toml: ignored, because it is not TOML/],
    [`#${'x'.repeat(70_000)}`, /croft\.toml: ignored, because it has over/],
  ])('with %j changes nothing and is reported as a problem', async (text, problem) => {
    const { problems, ...rest } = await withFile(text);
    expect(rest).toEqual(await detectOne(go));
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test('with one wrong key keeps the other keys', async () => {
    const profile = await withFile('[sandbox]\n[commands]\ntest = "x"\ninstall = ["y"]');
    expect(profile.install).toEqual(['y']);
    expect(profile.problems).toHaveLength(2);
  });

  test('is reported also if no project is detected, or if there are two files', async () => {
    expect((await withFile('[sandbox]', {})).problems).toHaveLength(1);
    const profile = await detectOne({ ...go, 'croft.toml': '', '.croft/config.toml': '[commands]\ninstall = ["x"]' });
    expect(profile.install).toEqual(['go', 'mod', 'download']);
    expect(profile.problems).toEqual(['.croft/config.toml: ignored, because croft.toml is there']);
  });

  test('never stops the detection, and changes nothing but commands', async () => {
    const before = await detectOne(go);
    const mine = ['install', 'format', 'formatCheck', 'lint', 'typecheck', 'test', 'extensions', 'problems'];
    const key = fc.oneof(
      fc.constantFrom('commands', 'project', 'test', 'lint', 'argv', 'tool', 'language'),
      fc.string(),
    );
    const line = fc.oneof(
      key.map((name) => `[${name}]`),
      fc.tuple(key, fc.json()).map(([name, value]) => `${name} = ${value}`),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), async (lines) => {
        for (const profile of await detect({ ...go, 'croft.toml': lines.join('\n') })) {
          const extra = Object.keys(profile).filter((name) => !(name in before) && !mine.includes(name));
          expect(extra).toEqual([]);
          expect(profile.directory).toBe('');
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('every test runner and every linter can be named in croft.toml', () => {
  expect(testToolNames).toEqual(expect.arrayContaining(Object.values(runners).map(({ name }) => name)));
  expect(lintToolNames).toEqual(expect.arrayContaining(Object.values(linters).map(({ name }) => name)));
});
