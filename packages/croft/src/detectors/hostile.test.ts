import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../test/support/expect-cheap.ts';
import { detect } from '../../test/support/memory-files.ts';

/** All files that any detector reads. */
const settings = [
  ...['package.json', 'tsconfig.json', 'deno.json', 'deno.jsonc', 'pyproject.toml', 'setup.cfg', 'Pipfile'],
  ...['requirements.txt', 'go.mod', '.golangci.yml', 'Cargo.toml', '.cargo/config.toml', 'pom.xml', 'build.gradle.kts'],
  ...['CMakeLists.txt', 'Makefile', 'Gemfile', 'composer.json', 'mix.exs', 'Package.swift', 'build.zig'],
  ...['App.csproj', '.shellcheckrc', 'a.sh', 'croft.toml', '.croft/config.toml'],
];
const words = [
  'scripts',
  'test',
  'tool',
  'ruff',
  'package',
  'workspace',
  'edition',
  'alias',
  'tasks',
  'require-dev',
  '__proto__',
];
const json = fc.json({ stringUnit: fc.constantFrom(...words, 'x', ' ', '$', '"', '\\', '\0') });
const text = fc.oneof(json, fc.string({ unit: 'binary' }), fc.constantFrom('[', '[[[[', '{"a":', 'aliases do\n['));

test('any content of settings files gives profiles that JSON can carry', async () => {
  const tree = fc.dictionary(fc.constantFrom(...settings), text, { minKeys: 1, maxKeys: 6 });
  await fc.assert(
    fc.asyncProperty(tree, async (files) => {
      const profiles = await detect(files);
      expect(JSON.parse(JSON.stringify(profiles))).toHaveLength(profiles.length);
      for (const { lint, test, typecheck, scripts } of profiles) {
        const programs = [lint, test, typecheck].flatMap((check) => check?.argv[0] ?? []);
        for (const argv of Object.values(scripts)) programs.push(argv[0]);
        expect(programs.join()).not.toMatch(/[\0\n]|npx|dlx/);
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['package.json', `{"scripts":{"test":${JSON.stringify('npm run test && '.repeat(20_000))}}}`],
  ['package.json', `{"scripts":{"test":${JSON.stringify(`${'a "b'.repeat(100_000)}`)}}}`],
  ['package.json', '['.repeat(500_000)],
  ['deno.jsonc', `{${'/*'.repeat(300_000)}`],
  ['deno.jsonc', `{"a": 1${','.repeat(300_000)}`],
  ['deno.jsonc', `{${' ,'.repeat(300_000)} x`],
  ['deno.jsonc', `{,${' '.repeat(500_000)}x`],
  ['tsconfig.json', '"\\'.repeat(300_000)],
  ['pyproject.toml', `[${'a.'.repeat(200_000)}b]`],
  ['pyproject.toml', `a = ${'['.repeat(300_000)}`],
  ['setup.cfg', '['.repeat(500_000)],
  ['requirements.txt', '"'.repeat(500_000)],
  ['requirements.txt', `${' '.repeat(500_000)}x`],
  ['Cargo.toml', `a = ${'{b='.repeat(100_000)}`],
  ['build.gradle', 'kotlin'.repeat(150_000)],
  ['build.gradle', `kotlin${' '.repeat(500_000)}`],
  ['.golangci.yml', `${' '.repeat(500_000)}x`],
  ['.golangci.yml', '\n'.repeat(500_000)],
  ['Makefile', `${'a '.repeat(400_000)}:`],
  ['Makefile', 'a:\n'.repeat(200_000)],
  ['mix.exs', `defp aliases do\n${' ['.repeat(300_000)}`],
  ['croft.toml', '[a]\n'.repeat(15_000)],
])('%s is read in little time', async (name, content) => {
  await expectCheap(() => detect({ 'package.json': '{}', 'go.mod': '', [name]: content }), 60);
});
