import { describe, expect, test } from 'vitest';
import { detect, detectOne } from '../../test/support/memory-files.ts';

const json = JSON.stringify;
const withScript = (script: string) => ({ 'package.json': json({ scripts: { test: script } }) });

describe('the package manager', () => {
  test.each([
    [{ 'package.json': '{"packageManager":"pnpm@9.1.0"}', 'yarn.lock': '' }, 'pnpm'],
    [{ 'package.json': '{"packageManager":"nobody@1"}', 'yarn.lock': '' }, 'yarn'],
    [{ 'package.json': '{}', 'bun.lock': '', 'package-lock.json': '' }, 'bun'],
    [{ 'package.json': '{}', 'bun.lockb': '' }, 'bun'],
    [{ 'package.json': '{}', 'bun.lock': '', 'yarn.lock': '' }, 'yarn'],
    [{ 'package.json': '{}', 'bun.lock': '', 'pnpm-lock.yaml': '' }, 'pnpm'],
    [{ 'package.json': '{}', 'pnpm-lock.yaml': '' }, 'pnpm'],
    [{ 'package.json': '{}', 'package-lock.json': '' }, 'npm'],
    [{ 'package.json': '{}' }, 'npm'],
    [{ 'package.json': '\ufeff{"packageManager":"yarn@4"}' }, 'yarn'],
  ])('for %j is %s', async (tree, manager) => {
    expect(await detectOne(tree)).toMatchObject({ packageManager: manager, install: [manager, 'install'] });
  });

  test.each(['', '{', '[]', 'null', '{"scripts":3,"packageManager":{}}'])(
    'falls back to npm for a broken package.json: %s',
    async (text) => {
      const profile = await detectOne({ 'package.json': text });
      expect(profile).toMatchObject({ language: 'node', scripts: {}, install: ['npm', 'install'] });
      expect(profile.test).toBeUndefined();
    },
  );

  test('of a package is the one of the monorepo around it', async () => {
    const tree = { 'package.json': '{}', 'pnpm-lock.yaml': '', 'packages/a/package.json': '{"scripts":{"build":"x"}}' };
    const inner = (await detect(tree)).find(({ directory }) => directory === 'packages/a');
    expect(inner).toMatchObject({ packageManager: 'pnpm', scripts: { build: ['pnpm', 'run', 'build'] } });
  });
});

describe('the linter', () => {
  test.each([
    ['biome.json', 'biome'],
    ['biome.jsonc', 'biome'],
    ['.oxlintrc.json', 'oxlint'],
    ['oxlintrc.json', 'oxlint'],
    ...['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((end) => [`eslint.config.${end}`, 'eslint']),
    ...['', '.json', '.js', '.cjs', '.yml', '.yaml'].map((end) => [`.eslintrc${end}`, 'eslint']),
  ])('by %s is %s, whatever the file holds', async (name, tool) => {
    const text = '// a comment\n{ "$schema": "https://example.com//schema.json", /* */ "a": 1, }';
    const { lint } = await detectOne({ 'package.json': '{}', [name]: text });
    expect(lint?.tool).toBe(tool);
    expect(lint?.argv).toContain('$FILES');
  });

  test('is eslint if package.json has its settings', async () => {
    expect((await detectOne({ 'package.json': '{"eslintConfig":{}}' })).lint?.tool).toBe('eslint');
  });

  const whole = { tool: 'lint-script', argv: ['npm', 'run', 'lint'] };
  test.each([
    [
      'eslint src --ext .ts --max-warnings 0 -f stylish',
      { tool: 'eslint', argv: ['eslint', '--ext', '.ts', '--max-warnings', '0', '$FILES'], all: ['src'] },
    ],
    ['eslint "src/**/*.js" --format=unix', { tool: 'eslint', argv: ['eslint', '$FILES'], all: ['src/**/*.js'] }],
    ['xo', { tool: 'xo', argv: ['xo', '$FILES'] }],
    ['npx standard --fix', { tool: 'standard', argv: ['standard', '--fix', '$FILES'] }],
    ['biome ci .', { tool: 'biome', argv: ['biome', 'check', '$FILES'], all: ['.'] }],
    ['oxlint -D correctness', { tool: 'oxlint', argv: ['oxlint', '-D', 'correctness', '$FILES'] }],
    ['biome format .', whole],
    ['eslint . && tsc', whole],
    ['STRICT=1 eslint .', whole],
    ['eslint src/*.js', whole],
    ['prettier --write . && eslint .', undefined],
  ])('by the script %j is the linter that the script runs', async (lint, expected) => {
    expect((await detectOne({ 'package.json': json({ scripts: { lint } }) })).lint).toEqual(expected);
  });

  test('of a script with pre and post scripts is the script, and for single files the configured linter', async () => {
    const tree = { 'package.json': json({ scripts: { prelint: 'x', lint: 'eslint .' } }), 'eslint.config.js': '' };
    expect((await detectOne(tree)).lint).toEqual({ tool: 'eslint', argv: ['eslint', '$FILES'], whole });
  });

  test('is xo if package.json depends on it', async () => {
    expect((await detectOne({ 'package.json': '{"devDependencies":{"xo":"1"}}' })).lint?.tool).toBe('xo');
  });

  test('of a package may be configured and installed above the package', async () => {
    const tree = {
      'packages/a/package.json': '{}',
      'eslint.config.js': '',
      'node_modules/.bin/eslint': '',
    };
    expect((await detectOne(tree)).lint?.argv[0]).toBe('../../node_modules/.bin/eslint');
  });

  test('is never downloaded', async () => {
    const profiles = await Promise.all(
      ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'package-lock.json'].map((lock) =>
        detectOne({
          'package.json': '{"scripts":{"test":"npx vitest"}}',
          'biome.json': '{}',
          'tsconfig.json': '{}',
          [lock]: '',
        }),
      ),
    );
    const text = json(profiles);
    expect(text).toContain('"biome"');
    expect(text).not.toMatch(/npx|bunx|pnpx|dlx/);
  });

  test('is run through yarn if there is no node_modules', async () => {
    const tree = { 'package.json': '{}', 'yarn.lock': '', '.pnp.cjs': '', 'eslint.config.js': '' };
    expect((await detectOne(tree)).lint?.argv).toEqual(['yarn', 'run', 'eslint', '$FILES']);
  });
});

describe('the formatter', () => {
  test.each([
    ...['', '.json', '.json5', '.yml', '.yaml', '.toml', '.js', '.cjs', '.mjs', '.ts'].map(
      (end) => `.prettierrc${end}`,
    ),
    ...['js', 'cjs', 'mjs', 'ts'].map((end) => `prettier.config.${end}`),
  ])('is prettier by %s, also if the file is empty or not JSON', async (name) => {
    for (const text of ['', 'semi: false\n']) {
      const profile = await detectOne({ 'package.json': '{}', [name]: text });
      expect(profile.format).toEqual(['prettier', '--write', '$FILES']);
      expect(profile.formatCheck).toEqual(['prettier', '--check', '$FILES']);
    }
  });

  test('is biome if both are configured', async () => {
    const profile = await detectOne({ 'package.json': '{}', 'biome.jsonc': '', '.prettierrc': '' });
    expect(profile.format).toEqual(['biome', 'format', '--write', '$FILES']);
  });

  test('gets only files of its own package', async () => {
    const { extensions } = await detectOne({ 'package.json': '{}', '.prettierrc': '' });
    expect(extensions).toContain('.ts');
    expect(extensions).not.toContain('.md');
  });
});

describe('the type checker', () => {
  test('is tsc', async () => {
    const tree = { 'package.json': '{}', 'tsconfig.json': '{ /* x */ }', 'node_modules/.bin/tsc': '' };
    const { typecheck, ecosystem } = await detectOne(tree);
    expect(ecosystem).toBe('typescript');
    expect(typecheck).toEqual({ tool: 'tsc', argv: ['./node_modules/.bin/tsc', '--noEmit', '--pretty', 'false'] });
  });

  test('builds a tsconfig that only refers to others, because a plain run would check nothing', async () => {
    const settings = '{ "files": [], "references": [{ "path": "./a" }], }';
    const { typecheck } = await detectOne({ 'package.json': '{}', 'tsconfig.json': settings });
    expect(typecheck?.argv).toContain('--build');
  });
});

describe('the tests', () => {
  test.each([
    // A single test runner: it runs directly for some of the tests, and through the package manager for all.
    ['vitest', 'vitest run $FILES', 'npm run test -- --run $FILES'],
    ['vitest run --coverage', 'vitest run --coverage $FILES', 'npm run test -- $FILES'],
    ['jest --runInBand', 'jest --runInBand $FILES', 'npm run test -- $FILES'],
    ['./node_modules/.bin/jest', 'jest $FILES', 'npm run test -- $FILES'],
    ['mocha --exit test', 'mocha --exit $FILES', 'npm run test --'],
    ['mocha -R dot', 'mocha -R dot $FILES', 'npm run test'],
    ['node --test', 'node --test $FILES', 'npm run test -- $FILES'],
    ['node --test "test/*.js"', 'node --test $FILES', 'npm run test'],
    ['tsx --test --watch', 'tsx --test $FILES', 'npm run test -- $FILES'],
    ['bun test --bail', 'bun test --bail $FILES', 'npm run test -- $FILES'],
  ])('by the script %s', async (script, argv, whole) => {
    const { test: check } = await detectOne(withScript(script));
    expect(check?.argv.join(' ')).toBe(argv);
    expect(check?.whole?.argv.join(' ')).toBe(whole);
  });

  test.each([
    // The test runner is the last of several programs, and the script sets its reporter.
    ['tsc && vitest --watch', 'vitest', 'npm run test -- --run $FILES'],
    ['NODE_ENV=test jest --runInBand', 'jest', 'npm run test -- $FILES'],
    ['NODE_OPTIONS=--experimental-vm-modules jest', 'jest', 'npm run test -- $FILES'],
    ['node --experimental-vm-modules node_modules/jest/bin/jest.js', 'jest', 'npm run test -- $FILES'],
    ['c8 mocha --require "ts-node/register" test/**/*.ts', 'mocha', 'npm run test --'],
    ['npx ava', 'ava', 'npm run test -- $FILES'],
    ['npm run lint && node --test', 'node-test', 'npm run test -- $FILES'],
    ['vitest run --project a; jest', 'jest', 'npm run test -- $FILES'],
    // Appended arguments would not reach the test runner, or would contradict the script.
    ['jest "$X"', 'script', 'npm run test'],
    ['node --test a.js && node --test b.js', 'script', 'npm run test'],
    ['jest --json --outputFile=x && echo done', 'script', 'npm run test'],
    ['TZ=UTC jest --reporters=default', 'script', 'npm run test'],
    ['jest | cat', 'script', 'npm run test'],
    ['jest || true', 'script', 'npm run test'],
    ['(cd unit && jest)', 'script', 'npm run test'],
    ['jest > log', 'script', 'npm run test'],
    ['eslint . --rule x && eslint jest', 'script', 'npm run test'],
    ['node scripts/jest.js', 'script', 'npm run test'],
    ['jest # all', 'script', 'npm run test'],
    ['npm run unit -- --bail', 'script', 'npm run test'],
    ['npm run test:unit', 'script', 'npm run test'],
    ['make test', 'script', 'npm run test'],
    ['./vitest-like.sh', 'script', 'npm run test'],
  ])('by the script %s, which runs as it is', async (script, tool, argv) => {
    const { test: check } = await detectOne(withScript(script));
    expect(check?.tool).toBe(tool);
    expect(check?.argv.join(' ')).toBe(argv);
    expect(check?.whole).toBeUndefined();
  });

  test.each(['pretest', 'posttest'])('with a %s run through it', async (hook) => {
    const scripts = { test: 'node --test', [hook]: 'node build.js' };
    const { test: check } = await detectOne({ 'package.json': json({ scripts }) });
    expect(check).toEqual({ tool: 'node-test', argv: ['npm', 'run', 'test', '--', '$FILES'], isOneOfSeveral: true });
  });

  test.each([
    ['pnpm', 'pnpm run test $FILES'],
    ['yarn', 'yarn run test $FILES'],
    ['bun', 'bun run test $FILES'],
  ])('get their arguments in the way of %s', async (manager, argv) => {
    const tree = { 'package.json': json({ packageManager: `${manager}@1`, scripts: { test: 'A=1 jest' } }) };
    expect((await detectOne(tree)).test?.argv.join(' ')).toBe(argv);
  });

  test.each([
    ['node --test other/x.js', 'node --test $FILES', ['other/x.js']],
    [
      'node --enable-source-maps --test dist/a.js dist/b.js',
      'node --enable-source-maps --test $FILES',
      ['dist/a.js', 'dist/b.js'],
    ],
    ['node --test --test-concurrency 1 test', 'node --test --test-concurrency 1 $FILES', ['test']],
    [
      'node --test --test-reporter ./mine.js --import ./hook.js a.js',
      'node --test --test-reporter ./mine.js --import ./hook.js $FILES',
      ['a.js'],
    ],
    ['node --test test/**/*.test.js "more/*.js"', 'node --test $FILES', [['test/**/*.test.js'], 'more/*.js']],
    [
      'vitest run --config a/vite.ts --pool forks src/unit',
      'vitest run --config a/vite.ts --pool forks $FILES',
      ['src/unit'],
    ],
    ['jest --coverage src/unit --maxWorkers 2', 'jest --coverage --maxWorkers 2 $FILES', ['src/unit']],
    ['mocha --spec "test/**/*.js" --timeout 500', 'mocha --timeout 500 $FILES', ['test/**/*.js']],
    ['mocha --spec=a.js -R dot b.js', 'mocha -R dot $FILES', ['a.js', 'b.js']],
    ['bun test --timeout 500 ./unit', 'bun test --timeout 500 $FILES', ['./unit']],
    ['vitest --pool forks', 'vitest run --pool forks $FILES', undefined],
  ])('of the script %s give way to the files of a call', async (script, argv, named) => {
    const { test: check } = await detectOne(withScript(script));
    expect(check?.argv.join(' ')).toBe(argv);
    expect(check?.named).toEqual(
      named?.map((one) => ({ text: typeof one === 'string' ? one : one[0], isForShell: typeof one !== 'string' })),
    );
  });

  test('by a script that only calls another script, also in a circle', async () => {
    const scripts = { test: 'npm run test:unit', 'test:unit': 'vitest run src' };
    const { test: check } = await detectOne({ 'package.json': json({ scripts }) });
    expect(check).toMatchObject({ tool: 'vitest', argv: ['vitest', 'run', '$FILES'] });
    expect(check?.whole).toEqual({ tool: 'script', argv: ['npm', 'run', 'test'] });
    const circle = { test: 'npm run a', a: 'npm run test' };
    expect((await detectOne({ 'package.json': json({ scripts: circle }) })).test?.tool).toBe('script');
  });

  test.each([
    ['vitest.config.mts', 'vitest'],
    ['jest.config.mjs', 'jest'],
    ['.mocharc.yml', 'mocha'],
    ['ava.config.js', 'ava'],
  ])('by %s, if no script says otherwise', async (name, tool) => {
    expect((await detectOne({ 'package.json': '{}', [name]: '' })).test?.tool).toBe(tool);
    const tree = { ...withScript('turbo run everything'), [name]: '' };
    expect((await detectOne(tree)).test).toEqual({ tool: 'script', argv: ['npm', 'run', 'test'] });
  });

  test('are none if the script is the placeholder that npm writes', async () => {
    const profile = await detectOne(withScript('echo "Error: no test specified" && exit 1'));
    expect(profile.test).toBeUndefined();
  });

  test('are those of bun if nothing else is configured', async () => {
    expect((await detectOne({ 'package.json': '{}', 'bun.lock': '' })).test?.tool).toBe('bun-test');
  });
});

test('cannot be a script whose name looks like an option', async () => {
  const scripts = { '--help': 'x', 'a\nb': 'x', ok: 'x', __proto__: 'x', 'a:b': 'x' };
  const profile = await detectOne({ 'package.json': json({ scripts }) });
  expect(Object.keys(profile.scripts)).toEqual(['ok', 'a:b']);
});
