import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type McpSession, makeDirectory } from '../support/harness.ts';
import { connectWithout, makeProjects } from './project.ts';

const json = JSON.stringify;
const go = { 'go.mod': 'module example.com/x\n', 'x.go': 'package x\n' };
const cargo = { 'Cargo.toml': '[package]\nname = "x"\nversion = "1.0.0"\n', 'src/lib.rs': '' };
const npm = (more: Record<string, unknown> = {}) => ({ 'package.json': json({ name: 'x', ...more }) });
const python = (settings: string) => ({ 'pyproject.toml': `[project]\nname = "x"\n${settings}`, 'x.py': '' });
const cmake = { 'CMakeLists.txt': 'project(x C)\n', 'x.c': '' };

/** By what is asked for: each tool, what makes a project that needs it, and the program that is then missing. */
const cases = {
  run_tests: [
    ['node:test', npm({ scripts: { test: 'node --test' } }), 'node'],
    ['vitest', npm({ scripts: { test: 'vitest' } }), 'vitest'],
    ['jest', npm({ scripts: { test: 'jest' } }), 'jest'],
    ['mocha', npm({ scripts: { test: 'mocha' } }), 'mocha'],
    ['pytest', python('[tool.pytest.ini_options]\n'), 'pytest'],
    ['go test', go, 'go'],
    ['cargo test', cargo, 'cargo'],
    ['JUnit XML by Maven', { 'pom.xml': '<project/>' }, 'mvn'],
    ['JUnit XML by Gradle', { 'build.gradle': '' }, 'gradle'],
    ['JUnit XML by ctest', cmake, 'cmake'],
    ['dotnet', { 'x.csproj': '<Project/>' }, 'dotnet'],
    ['rspec', { Gemfile: "gem 'rspec'\n", '.rspec': '' }, 'bundle'],
    ['phpunit', { 'composer.json': '{"require-dev":{"phpunit/phpunit":"^10"}}' }, 'phpunit'],
  ],
  run_lint: [
    ['eslint', { ...npm(), 'eslint.config.js': '' }, 'eslint'],
    ['biome', { ...npm(), 'biome.json': '{}' }, 'biome'],
    ['oxlint', { ...npm(), '.oxlintrc.json': '{}' }, 'oxlint'],
    ['ruff', python('[tool.ruff]\n'), 'ruff'],
    ['flake8', { ...python(''), '.flake8': '' }, 'flake8'],
    ['golangci-lint', { ...go, '.golangci.yml': 'version: "2"\n' }, 'golangci-lint'],
    ['go vet', go, 'go'],
    ['clippy', cargo, 'cargo'],
    ['clang', { ...cmake, '.clang-tidy': '' }, 'clang-tidy'],
    ['shellcheck', { 'x.sh': '#!/bin/sh\n', '.shellcheckrc': '' }, 'shellcheck'],
  ],
  run_typecheck: [
    ['mypy', python('[tool.mypy]\n'), 'mypy'],
    ['tsc', { ...npm(), 'tsconfig.json': '{}' }, 'tsc'],
    ['rustc', cargo, 'cargo'],
    ['javac', { 'X.java': 'class X {}\n' }, 'javac'],
    ['cc', cmake, 'cmake'],
  ],
  run_format: [
    ['prettier', { ...npm(), '.prettierrc': '' }, 'prettier'],
    ['gofmt', go, 'gofmt'],
    ['clang-format', { ...cmake, '.clang-format': '' }, 'clang-format'],
    ['mix format', { 'mix.exs': 'defmodule X do end' }, 'mix'],
  ],
  run_script: [
    ['npm', npm({ scripts: { go: 'true' } }), 'npm'],
    ['make', { ...cmake, Makefile: 'go:\n\ttrue\n' }, 'make'],
  ],
} as const;

describe.each(Object.entries(cases))('%s', (tool, rows) => {
  const projectTree = makeProjects({});
  const bin = makeDirectory();
  let session: McpSession;
  beforeAll(async () => {
    session = await connectWithout(projectTree, join(bin.path, 'bin'));
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    projectTree[Symbol.dispose]();
    bin[Symbol.dispose]();
  });

  test.each([...rows])('without %s is an error in the same words, and not green', async (_, tree, program) => {
    projectTree.fill({}, tree);
    const answer = await session.call(tool, tool === 'run_script' ? { name: 'go' } : {});
    expect(answer.structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { program } });
    expect(answer.text).toMatch(new RegExp(`^${tool}: ${program}: not found on PATH(?:; |\\n)`));
    // A command that only downloads sources installs no program.
    expect(answer.text).not.toMatch(/go mod download|cargo fetch|go-offline/);
  });
});
