import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../../test/support/harness.ts';
import { detect, detectOne } from '../../test/support/memory-files.ts';
import { withFiles } from '../core/project-tools/linter.ts';
import type { Argv } from '../core/projects/profile.ts';

describe('go', () => {
  test('is vetted and tested by package', async () => {
    expect(await detectOne({ 'go.mod': 'module x' })).toMatchObject({
      language: 'go',
      install: ['go', 'mod', 'download'],
      format: ['gofmt', '-w', '$FILES'],
      lint: { tool: 'go-vet', argv: ['go', 'vet', '$FILES'] },
      typecheck: { tool: 'go-vet' },
      test: { tool: 'go-test', argv: ['go', 'test', '$FILES'] },
    });
  });

  test.each([
    ['.golangci.yml', 'version: "2"\n', '--output.json.path=stdout'],
    ['.golangci.yaml', 'linters: {}\n', '--out-format=json'],
    ['.golangci.toml', 'version = "2"\n', '--output.json.path=stdout'],
    ['.golangci.json', '{ "version": "2" }', '--output.json.path=stdout'],
  ])('is linted by golangci-lint with %s', async (name, text, option) => {
    const { lint } = await detectOne({ 'go.mod': '', [name]: text });
    expect(lint).toEqual({ tool: 'golangci-lint', argv: ['golangci-lint', 'run', option, '$FILES'] });
  });

  test('is linted by the settings above it, with paths relative to those settings', async () => {
    const { lint } = await detectOne({ '.golangci.yml': 'version: "2"\n', 'api/go.mod': 'module x\n' });
    expect(lint?.argv).toEqual(['golangci-lint', 'run', '--output.json.path=stdout', '--path-mode=abs', '$FILES']);
  });

  test('fails the format check when formatting would change a file', async () => {
    using root = makeDirectory();
    const { formatCheck } = await detectOne({ 'go.mod': '' });
    const check = (said: string, code: number) =>
      runWith(root.path, 'gofmt', `printf '${said}'; exit ${code}`, formatCheck);
    expect(check('', 0)).toBe(0);
    expect(check('diff a.go', 0)).not.toBe(0);
    expect(check('', 2)).not.toBe(0);
  });
});

describe('rust', () => {
  test('gives cargo no files', async () => {
    const profile = await detectOne({ 'Cargo.toml': '[package]\nname = "a"\n' });
    for (const check of [profile.lint, profile.typecheck, profile.test]) {
      expect(check?.argv[0]).toBe('cargo');
      expect(check?.argv).not.toContain('$FILES');
      expect(check?.argv).not.toContain('--');
    }
    expect(profile.lint).toEqual({
      tool: 'clippy',
      argv: ['cargo', 'clippy', '--all-targets', '--message-format=json'],
    });
  });

  test.each([
    ['[package]\nedition = "2024"\n', '2024'],
    ['[package]\nname = "a"\n', '2015'],
    ['[workspace.package]\nedition = "2021"\n', '2021'],
    ['not TOML', '2015'],
    ['[package]\nedition = "2024; rm -rf /"\n', '2015'],
  ])('is formatted by the edition in %j', async (text, edition) => {
    const { format, formatCheck } = await detectOne({ 'Cargo.toml': text });
    expect(format?.[2]).toContain(`rustfmt --edition ${edition} "$@"`);
    expect(formatCheck?.[2]).toContain(`rustfmt --edition ${edition} --check "$@"`);
  });

  test('finds the edition of the workspace around a package', async () => {
    const profiles = await detect({
      'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\n[workspace.package]\nedition = "2021"\n',
      'crates/a/Cargo.toml': '[package]\nname = "a"\nedition.workspace = true\n',
    });
    const [root, inner] = profiles;
    expect(inner?.format?.[2]).toContain('--edition 2021');
    expect(root).toMatchObject({ coversBelow: true, test: { argv: ['cargo', 'test', '--workspace'] } });
    expect(inner).toMatchObject({ coversBelow: false, test: { argv: ['cargo', 'test'] } });
  });

  test('formats a single file, and the package as a whole', async () => {
    using root = makeDirectory();
    const { format } = await detectOne({ 'Cargo.toml': '[package]\nedition = "2021"\n' });
    const saying = 'echo "$(basename "$0") $*" > said';
    for (const name of ['cargo', 'rustfmt']) fake(root.path, name, saying);
    runWith(root.path, 'cargo', saying, format, ['.']);
    expect(readFileSync(root.at('said'), 'utf8')).toBe('cargo fmt\n');
    runWith(root.path, 'rustfmt', saying, format, ['src/a b.rs', '-x.rs']);
    expect(readFileSync(root.at('said'), 'utf8')).toBe('rustfmt --edition 2021 src/a b.rs ./-x.rs\n');
  });

  test('leaves out benches, which no stable compiler accepts', async () => {
    const tree = { 'Cargo.toml': '[package]\nname = "a"\n', 'src/lib.rs': '', 'benches/a.rs': 'fn main() {}\n' };
    expect((await detectOne(tree)).typecheck?.argv).toContain('--all-targets');
    const unstable = await detectOne({ ...tree, 'benches/b.rs': '#![feature(test)]\nextern crate test;\n' });
    const targets = ['--lib', '--bins', '--examples', '--tests', '--message-format=json'];
    expect(unstable.typecheck?.argv).toEqual(['cargo', 'check', ...targets]);
    expect(unstable.lint?.argv).toEqual(['cargo', 'clippy', ...targets]);
  });

  test('knows the aliases of its cargo settings', async () => {
    const config = '[alias]\nxtask = "run -p xtask"\nci = ["test"]\n';
    const { scripts } = await detectOne({ 'Cargo.toml': '', '.cargo/config.toml': config });
    expect(scripts).toEqual({ xtask: ['cargo', 'xtask'], ci: ['cargo', 'ci'] });
  });
});

describe('java', () => {
  test('with Maven, and its wrapper if there is one', async () => {
    expect(await detectOne({ 'pom.xml': '<project/>' })).toMatchObject({
      language: 'java',
      packageManager: 'maven',
      test: { tool: 'maven', argv: ['mvn', '--batch-mode', 'test'] },
      typecheck: { tool: 'maven-compile', argv: ['mvn', '--batch-mode', 'test-compile'] },
    });
    const profiles = await detect({ mvnw: '', 'pom.xml': '<modules>', 'web/pom.xml': '' });
    expect(profiles.map(({ test }) => test?.argv[0])).toEqual(['./mvnw', '../mvnw']);
    expect(profiles.map(({ coversBelow }) => coversBelow)).toEqual([true, false]);
  });

  test.each([
    ['build.gradle', '', 'java'],
    ['build.gradle.kts', 'plugins { kotlin("jvm") version "2.0" }', 'kotlin'],
    ['settings.gradle', '', 'java'],
    ['settings.gradle.kts', '', 'java'],
  ])('with Gradle and %s', async (name, text, ecosystem) => {
    const profile = await detectOne({ [name]: text, gradlew: '' });
    expect(profile).toMatchObject({ language: 'java', ecosystem, packageManager: 'gradle' });
    expect(profile.test).toEqual({ tool: 'gradle', argv: ['./gradlew', '--console=plain', 'test'] });
    expect(profile.extensions).toContain('.kt');
  });

  test('with source files alone is only compiled', async () => {
    const { typecheck, test: tests } = await detectOne({ 'src/A.java': '' });
    expect(typecheck).toMatchObject({ tool: 'javac', all: ['A.java'] });
    expect(typecheck?.argv).not.toContain('-d');
    expect(tests).toBeUndefined();
  });
});

describe('c and c++', () => {
  test('with CMake is built before its tests run', async () => {
    const { test: tests, typecheck } = await detectOne({ 'CMakeLists.txt': '' });
    expect(tests).toMatchObject({ tool: 'ctest' });
    expect(tests?.argv[2]).toMatch(
      /^cmake -S \. -B build .* && cmake --build build && exec ctest --test-dir build "\$@"$/,
    );
    expect(typecheck).toMatchObject({ tool: 'cmake-build' });
  });

  test('with a build directory that exists uses that', async () => {
    const { test: tests } = await detectOne({ 'meson.build': '', 'builddir/build.ninja': '' });
    expect(tests).toMatchObject({ tool: 'meson-test' });
    expect(tests?.argv[2]).toContain('meson test -C builddir');
  });

  test('with a Makefile counts if there is C', async () => {
    const makefile =
      '.PHONY: all clean\nCFLAGS := -O2\nall: main.o\n\tcc\nmain.o: main.c\ntest:: all\n%.o: %.c\n$(X): y\n';
    const profile = await detectOne({ Makefile: makefile, 'src/main.c': '' });
    expect(profile).toMatchObject({ ecosystem: 'make', test: { tool: 'make-test', argv: ['make', 'test'] } });
    expect(Object.keys(profile.scripts)).toEqual(['all', 'test', 'clean']);
    const python = await detectOne({ Makefile: makefile, 'ext/main.c': '', 'pyproject.toml': '' });
    expect(python).toMatchObject({ language: 'python' });
    expect(await detect({ Makefile: makefile })).toEqual([]);
  });

  test('with a generated Makefile runs the generator, and ignores documentation beside it', async () => {
    const jq = { 'configure.ac': '', 'Makefile.am': '', 'src/main.c': '', 'docs/Pipfile': '', 'docs/build.py': '' };
    const profile = await detectOne(jq);
    expect(profile).toMatchObject({ language: 'cpp', ecosystem: 'autotools', test: { tool: 'make-test' } });
    expect(profile.test?.argv[2]).toMatch(/autoreconf -fi; \} && \.\/configure; \}; \} && exec make check "\$@"$/);
    const plain = await detectOne({ 'configure.ac': '', 'Makefile.in': 'tests: x\n', 'x.c': '' });
    expect(plain.test?.argv[2]).toContain('exec make tests');
    expect((await detectOne({ 'docs/pyproject.toml': '', 'docs/a.py': '' })).language).toBe('python');
    const older = { ...jq, 'docs/Gemfile': '', 'docs/Rakefile': '' };
    expect((await detectOne(older)).language).toBe('cpp');
    expect((await detectOne({ 'docs/Gemfile': '', 'docs/a.gemspec': '' })).language).toBe('ruby');
  });

  test('with a Makefile.am uses its target for tests, if `check` has no tests', async () => {
    const tinyproxy = { 'configure.ac': '', 'Makefile.am': 'test: all\n\t./run_tests.sh\n', 'src/main.c': '' };
    expect((await detectOne(tinyproxy)).test?.argv[2]).toContain('exec make test "$@"');
    const below = await detectOne({ ...tinyproxy, 'tests/Makefile.am': 'TESTS = one.sh\n' });
    expect(below.test?.argv[2]).toContain('exec make check "$@"');
  });

  test('with a Makefile of the sources uses that, if the one of the root has no tests', async () => {
    const src = 'test: redis-server\n\t@(cd ..; ./runtest)\n';
    const redis = { Makefile: 'default: all\n.DEFAULT:\n\tcd src && $(MAKE) $@\n', 'src/Makefile': src, 'src/a.c': '' };
    expect((await detectOne(redis)).test?.argv).toEqual(['make', 'test']);
    const other = { Makefile: 'all:\n\ttrue\n', 'src/Makefile': src, 'src/a.c': '' };
    expect((await detectOne(other)).test?.argv).toEqual(['make', '-C', 'src', 'test']);
  });

  test('lists every file for a tool that takes no directory', async () => {
    const { lint, format } = await detectOne({
      'CMakeLists.txt': '',
      '.clang-tidy': '',
      '.clang-format': '',
      'src/a.cc': '',
    });
    expect(lint).toEqual({ tool: 'clang-tidy', argv: ['clang-tidy', '-p', 'build', '$FILES'], all: ['src/a.cc'] });
    using root = makeDirectory({ 'a.c': '', 'src/b.h': '', 'build/c.c': '', '.git/d.c': '', 'e.txt': '' });
    runWith(root.path, 'clang-format', 'shift; echo "$@" > said', format, ['.']);
    expect(readFileSync(root.at('said'), 'utf8').trim().split(' ').sort()).toEqual(['./a.c', './src/b.h']);
  });
});

test('dotnet names the solution, because the program would ask for it', async () => {
  const profiles = await detect({ 'App.sln': '', 'a/A.csproj': '', 'b/B.fsproj': '', 'b/C.csproj': '' });
  expect(profiles.map(({ test }) => test?.argv)).toEqual([
    ['dotnet', 'test', './App.sln', '--nologo'],
    ['dotnet', 'test', './A.csproj', '--nologo'],
    ['dotnet', 'test', './B.fsproj', '--nologo'],
  ]);
  expect(profiles.map(({ coversBelow }) => coversBelow)).toEqual([true, false, false]);
});

test('zig and swift', async () => {
  expect(await detectOne({ 'build.zig': '' })).toMatchObject({
    language: 'zig',
    test: { tool: 'zig-test', argv: ['zig', 'build', 'test'] },
    formatCheck: ['zig', 'fmt', '--check', '$FILES'],
  });
  expect(await detectOne({ 'Package.swift': '', '.swiftlint.yml': '' })).toMatchObject({
    language: 'swift',
    lint: { tool: 'swiftlint' },
    test: { tool: 'swift-test', argv: ['swift', 'test'] },
  });
});

function fake(directory: string, name: string, script: string): void {
  mkdirSync(`${directory}/bin`, { recursive: true });
  writeFileSync(`${directory}/bin/${name}`, `#!/bin/sh\n${script}\n`);
  chmodSync(`${directory}/bin/${name}`, 0o755);
}

/** Runs a command for real, with a program of this name that does what `script` says. Returns the exit code. */
function runWith(
  directory: string,
  name: string,
  script: string,
  argv: Argv | undefined,
  files: readonly string[] = ['.'],
): number {
  fake(directory, name, script);
  const [program, ...rest] = withFiles(argv ?? ['false'], files);
  try {
    execFileSync(program, rest, { cwd: directory, env: { PATH: `${directory}/bin:/usr/bin:/bin` }, stdio: 'pipe' });
    return 0;
  } catch (thrown) {
    return (thrown as { status: number }).status;
  }
}
