import { expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { findMissingProgram, missingToolError } from './missing-tool.ts';

const missing = (stderr: string, exitCode: number | null = 1, stdout = '') =>
  findMissingProgram({ stdout, stderr, exitCode, isCut: false, directory: '/workspace' });

test.each([
  ['/usr/bin/python3: No module named mypy\n', 1, 'mypy'],
  ['error: no such command: `clippy`\n\nhelp: view all installed commands\n', 101, 'clippy'],
  ["error: 'cargo-clippy' is not installed for the toolchain 'stable-x86_64'.\n", 1, 'cargo-clippy'],
  ['bundler: command not found: rubocop\nInstall missing gem executables with `bundle install`\n', 127, 'rubocop'],
  ['** (Mix) The task "credo" could not be found\n', 1, 'credo'],
  ['sh: 1: eslint: not found\n', 127, 'eslint'],
  ["find: 'clang-format': No such file or directory\n", 1, 'clang-format'],
  ['bash: line 1: eslint: command not found\n', 127, 'eslint'],
  ['pyenv: ruff: command not found\n', 127, 'ruff'],
  ['build: 1: exec: ctest: not found\n', 127, 'ctest'],
  ['CMake Warning:\n  No source.\n\nbuild: 1: exec: ctest: not found\n', 127, 'ctest'],
  ['CMake Error: CMake was unable to find a build program corresponding to "Ninja".  CMAKE_MAKE_PROGRAM', 1, 'ninja'],
  ['CMake Error at CMakeLists.txt:2 (project):\n  No CMAKE_CXX_COMPILER could be found.\n', 1, 'c++'],
  ['make: cc: No such file or directory\nmake: *** [Makefile:3: x.o] Error 127\n', 2, 'cc'],
  ['/bin/sh: 1: bison: not found\nmake: *** [Makefile:3: x.c] Error 127\n', 2, 'bison'],
  ['error: linker `cc` not found\n  |\n', 101, 'cc'],
])('%j names a missing program', (stderr, exitCode, program) => {
  expect(missing(stderr, exitCode)).toBe(program);
});

test.each([
  ["a.js:1:1: 'x' not found", 1],
  ["find: './gone': No such file or directory\n", 1],
  ['module not found', 1],
  ['eslint: not found', 1],
  ['sh: 1: eslint: not found', 0],
  ['Traceback:\n  x\nModuleNotFoundError: No module named plugin', 1],
  ['plugin says:\n/usr/bin/python3: No module named mypy', 1],
  ['', 127],
  ['make: notes.txt: No such file or directory\nmake: *** [Makefile:3: test] Error 1\n', 2],
  ['test says: error: linker `cc` not found', 1],
])('%j does not name a missing program', (stderr, exitCode) => {
  expect(missing(stderr, exitCode)).toBeUndefined();
});

test('Meson names the missing compiler among other output', () => {
  const said = "Project name: x\n\nmeson.build:1:0: ERROR: Unknown compiler(s): [['cc'], ['gcc']]\n";
  expect(missing('', 1, said)).toBe('cc');
});

const profile = { language: 'x', ecosystem: 'x', directory: '', extensions: [], scripts: {} };

test.each([
  ['eslint', ['npm', 'install'], 'run_lint: eslint: not found on PATH; it may come with: npm install'],
  [
    './node_modules/.bin/tsc',
    ['npm', 'install'],
    'run_lint: ./node_modules/.bin/tsc: not found on PATH; it may come with: npm install',
  ],
  ['/usr/bin/ctest', undefined, 'run_lint: /usr/bin/ctest: not found on PATH; on Debian: apt-get install cmake'],
  ['gofmt', ['go', 'mod', 'download'], 'run_lint: gofmt: not found on PATH; on Debian: apt-get install golang-go'],
  [
    'golangci-lint',
    ['go', 'mod', 'download'],
    'run_lint: golangci-lint: not found on PATH; it comes with: ' +
      'go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest',
  ],
  ['gotestsum', ['go', 'mod', 'download'], 'run_lint: gotestsum: not found on PATH'],
  ['cargo-nextest', ['cargo', 'fetch'], 'run_lint: cargo-nextest: not found on PATH'],
  ['zig', ['zig', 'build', '--fetch'], 'run_lint: zig: not found on PATH'],
  ['constructor', undefined, 'run_lint: constructor: not found on PATH'],
] as const)('the error about %s names the command that installs it, if one is known', (program, install, message) => {
  expect(missingToolError(program, { profile: { ...profile, install }, tool: 'run_lint' }).message).toBe(message);
});

test.each([
  ['eslint', ['npm', 'install'], 'Install the dependencies of the project first; nothing is fetched unasked.'],
  ['gotestsum', ['go', 'mod', 'download'], 'Ask the person to install it; nothing is fetched unasked.'],
  ['golangci-lint', ['go', 'mod', 'download'], expect.stringContaining('It is not a dependency of the project')],
  ['cmake', undefined, expect.stringContaining('It is not a dependency of the project')],
] as const)('the error about %s names who can install it', (program, install, hint) => {
  expect(missingToolError(program, { profile: { ...profile, install } }).hint).toEqual(hint);
});

test.each(['x', 'a: ', '1: ', '/', ' '])('a megabyte of %j is read without delay', async (part) => {
  const said = part.repeat(2 ** 20 / part.length);
  await expectCheap(() => missing(said, 127), 20);
});
