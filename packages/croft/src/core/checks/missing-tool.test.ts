import { expect, test } from 'vitest';
import { findMissing } from './missing-tool.ts';

const missing = (stderr: string, exitCode: number | null = 1) =>
  findMissing({ stdout: '', stderr, exitCode, isCut: false, directory: '/workspace' });

test.each([
  ['/usr/bin/python3: No module named mypy\n', 1, 'mypy'],
  ['error: no such command: `clippy`\n\nhelp: view all installed commands\n', 101, 'clippy'],
  ["error: 'cargo-clippy' is not installed for the toolchain 'stable-x86_64'.\n", 1, 'cargo-clippy'],
  ['bundler: command not found: rubocop\nInstall missing gem executables with `bundle install`\n', 127, 'rubocop'],
  ['** (Mix) The task "credo" could not be found\n', 1, 'credo'],
  ['sh: 1: eslint: not found\n', 127, 'eslint'],
  ['bash: line 1: eslint: command not found\n', 127, 'eslint'],
  ['pyenv: ruff: command not found\n', 127, 'ruff'],
])('%j is a program that is missing', (stderr, exitCode, program) => {
  expect(missing(stderr, exitCode)).toBe(program);
});

test.each([
  ["a.js:1:1: 'x' not found", 1],
  ['module not found', 1],
  ['eslint: not found', 1],
  ['sh: 1: eslint: not found', 0],
  ['Traceback:\n  x\nModuleNotFoundError: No module named plugin', 1],
  ['plugin says:\n/usr/bin/python3: No module named mypy', 1],
  ['', 127],
])('%j is none', (stderr, exitCode) => {
  expect(missing(stderr, exitCode)).toBeUndefined();
});

test('a megabyte of anything is read at once', () => {
  const startedAt = performance.now();
  for (const part of ['x', 'a: ', '1: ', '/', ' ']) missing(part.repeat(2 ** 20 / part.length), 127);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});
