import { describe, expect, test } from 'vitest';
import { detect, detectOne } from '../../test/support/memory-files.ts';

describe('ruby', () => {
  test.each([
    [{ Gemfile: "gem 'rspec'", 'spec/a_spec.rb': '' }, 'rspec', ['bundle', 'exec', 'rspec', '$FILES']],
    [{ 'x.gemspec': '', '.rspec': '' }, 'rspec', ['rspec', '$FILES']],
    [{ Gemfile: "gem 'rails'", 'test/a_test.rb': '', 'bin/rails': '' }, 'minitest', ['./bin/rails', 'test', '$FILES']],
  ])('tests %j', async (tree, tool, argv) => {
    expect((await detectOne(tree)).test).toEqual({ tool, argv });
  });

  test('tests with minitest and the given files', async () => {
    const { test: tests } = await detectOne({ Gemfile: '', 'test/a_test.rb': '' });
    expect(tests?.tool).toBe('minitest');
    expect(tests?.argv.at(-1)).toBe('$FILES');
  });

  test('lints with rubocop if it is configured or a dependency', async () => {
    expect((await detectOne({ Gemfile: '' })).lint).toBeUndefined();
    for (const tree of [{ Gemfile: 'gem "rubocop-rails"' }, { Gemfile: '', '.rubocop.yml': '' }]) {
      expect((await detectOne(tree)).lint?.tool).toBe('rubocop');
    }
  });
});

describe('php', () => {
  test('takes its tools from vendor/bin', async () => {
    const manifest = {
      require: { php: '>=8' },
      'require-dev': { 'phpunit/phpunit': '^11', 'phpstan/phpstan': '^2' },
      scripts: { check: 'x', 'post-install-cmd': 'y' },
    };
    const profile = await detectOne({
      'composer.json': JSON.stringify(manifest),
      'vendor/bin/phpunit': '',
      'phpcs.xml.dist': '',
      '.php-cs-fixer.dist.php': '',
    });
    expect(profile).toMatchObject({
      install: ['composer', 'install'],
      dependencyDirectory: 'vendor',
      test: { tool: 'phpunit', argv: ['./vendor/bin/phpunit', '$FILES'] },
      lint: { tool: 'phpcs', argv: ['phpcs', '-q', '--report=json', '$FILES'] },
      typecheck: { tool: 'phpstan' },
      format: ['php-cs-fixer', 'fix', '$FILES'],
      scripts: { check: ['composer', 'run-script', 'check'] },
    });
    expect(profile.scripts).not.toHaveProperty('post-install-cmd');
  });

  test.each(['', '{', '{"require-dev":[1],"scripts":"x"}'])('survives %j', async (text) => {
    expect(await detectOne({ 'composer.json': text })).toMatchObject({ language: 'php', scripts: {} });
  });
});

test('elixir', async () => {
  const text = [
    'defmodule A.MixProject do',
    '  defp deps do [{:credo, "~> 1.7"}] end',
    '  defp aliases do',
    '    [',
    '      setup: ["deps.get", "ecto.setup"],',
    '      "ecto.setup": ["ecto.create"]',
    '    ]',
    '  end',
    'end',
  ].join('\n');
  expect(await detectOne({ 'mix.exs': text })).toMatchObject({
    install: ['mix', 'deps.get'],
    dependencyDirectory: 'deps',
    lint: { tool: 'credo' },
    test: { tool: 'mix-test', argv: ['mix', 'test', '$FILES'] },
    scripts: { setup: ['mix', 'setup'], 'ecto.setup': ['mix', 'ecto.setup'] },
  });
});

describe('shell', () => {
  test('is a project if its linter is configured, with every script listed', async () => {
    const profiles = await detect({ 'go.mod': '', '.shellcheckrc': '', 'scripts/a.sh': '', 'b.bash': '' });
    expect(profiles.map(({ language }) => language)).toEqual(['go', 'shell']);
    expect(profiles[1]?.lint).toEqual({
      tool: 'shellcheck',
      argv: ['shellcheck', '$FILES'],
      all: ['b.bash', 'scripts/a.sh'],
    });
  });

  test('is a project if there is nothing else', async () => {
    expect(await detectOne({ 'README.md': '', 'bin/a.sh': '' })).toMatchObject({ language: 'shell', directory: 'bin' });
  });

  test('in two directories does not make two projects', async () => {
    expect(await detectOne({ 'go.mod': '', 'scripts/a.sh': '', 'b.sh': '' })).toMatchObject({ language: 'go' });
    expect(await detect({ '.shellcheckrc': '' })).toEqual([]);
  });
});
