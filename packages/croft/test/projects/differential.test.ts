import { chmodSync } from 'node:fs';
import { describe, test } from 'vitest';
import { hasToolchains, type ToolchainName } from '../support/toolchains.ts';
import { expectSameVerdict } from './expect-same-verdict.ts';
import { shareProjects } from './project.ts';

const slow = { timeout: 300_000 };
const assertion = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n";
const tests = (body = '') => `${assertion}test('one', () => {${body}});\n`;
const passing = { 'one.test.js': tests() };

interface Script {
  readonly scripts: Readonly<Record<string, string>>;
  readonly tree: Readonly<Record<string, string>>;
  /** The change that makes it red. Absent: red from the start. Empty: it stays green. */
  readonly breaks?: Readonly<Record<string, string>>;
}

const exit = (status: number) => `process.exit(${status});\n`;
const build = "import { cpSync } from 'node:fs';\ncpSync('src', 'dist', { recursive: true });\n";
const onDist = `${assertion}import { one } from '../dist/one.js';\ntest('one', () => assert.equal(one, 1));\n`;
const inEnvironment = tests("assert.deepEqual([process.env.STRICT, new Date(0).getHours()], ['1', 0])");
const bare = tests('assert.deepEqual([process.env.CI, process.env.NO_COLOR], [undefined, undefined])');
const spawns = `${assertion}import { execFileSync } from 'node:child_process';\ntest('one', () => { execFileSync('own-tool'); });\n`;

/** In each case Croft once ran something other than the script. */
const scripts: Readonly<Record<string, Script>> = {
  'two steps': {
    scripts: { test: 'node --test && node check.js' },
    tree: { ...passing, 'check.js': exit(0) },
    breaks: { 'check.js': exit(1) },
  },
  'a step before': {
    scripts: { pretest: 'node check.js', test: 'node --test' },
    tree: { ...passing, 'check.js': exit(0) },
    breaks: { 'check.js': exit(1) },
  },
  'a step after': {
    scripts: { test: 'node --test', posttest: 'node check.js' },
    tree: { ...passing, 'check.js': exit(0) },
    breaks: { 'check.js': exit(1) },
  },
  'tests of what is built first': {
    scripts: { test: 'node build.js && node --test test/one.test.js' },
    tree: { 'build.js': build, 'src/one.js': 'export const one = 1;\n', 'test/one.test.js': onDist },
    breaks: { 'src/one.js': 'export const one = 2;\n' },
  },
  variables: {
    scripts: { test: 'STRICT=1 TZ=UTC node --test' },
    tree: { 'one.test.js': inEnvironment },
    breaks: { 'one.test.js': inEnvironment.replace("'1', 0", "'1', 5") },
  },
  'settings of a runner that the script does not use': {
    scripts: { test: 'node check.js' },
    tree: { 'check.js': exit(0), '.mocharc.json': '{}', 'node_modules/.bin/mocha': '#!/bin/sh\nexit 0\n' },
    breaks: { 'check.js': exit(1) },
  },
  'a program that is not there': { scripts: { test: 'nyc node --test' }, tree: passing },
  'another directory': {
    scripts: { test: 'cd unit && node --test' },
    tree: { 'unit/one.test.js': tests(), 'bad.test.js': tests("throw new Error('not of these')") },
    breaks: { 'unit/one.test.js': tests("throw new Error('bad')") },
  },
  'another name for a script': {
    scripts: { test: 'npm run unit', unit: 'node --test' },
    tree: passing,
    breaks: { 'one.test.js': tests("throw new Error('bad')") },
  },
  'tests that look for variables of ours': {
    scripts: { test: 'node --test' },
    tree: { 'one.test.js': bare },
    breaks: {},
  },
  'programs of packages': {
    scripts: { test: 'node --test one.test.js' },
    tree: { 'one.test.js': spawns, 'node_modules/.bin/own-tool': '#!/bin/sh\nexit 0\n' },
    breaks: { 'node_modules/.bin/own-tool': '#!/bin/sh\nexit 1\n' },
  },
};

describe.skipIf(!(await hasToolchains('node')))('the verdict equals that of the script with', slow, () => {
  const { projectTree, call } = shareProjects({});

  test.each(Object.entries(scripts))('%s', async (_, { scripts, tree, breaks }) => {
    const manifest = JSON.stringify({ name: 'x', version: '1.0.0', type: 'module', scripts });
    projectTree.fill({}, { ...tree, 'package.json': manifest });
    for (const name of Object.keys(tree)) if (name.includes('.bin/')) chmodSync(projectTree.at(name), 0o755);
    const compared = { path: projectTree.path, call, command: 'npm test' };
    await expectSameVerdict(compared, breaks !== undefined);
    if (!breaks || Object.keys(breaks).length === 0) return;
    for (const [name, text] of Object.entries(breaks)) projectTree.put(name, text);
    await expectSameVerdict(compared, false);
  });
});

interface Ecosystem {
  readonly toolchains: readonly ToolchainName[];
  readonly source: string;
  readonly command: string;
}

const ecosystems: Readonly<Record<string, Ecosystem>> = {
  node: { toolchains: ['node'], source: 'src/sums.js', command: 'npm test' },
  python: { toolchains: ['python'], source: 'sums.py', command: 'pytest' },
  go: { toolchains: ['go'], source: 'sums.go', command: 'go test ./...' },
  rust: { toolchains: ['rust'], source: 'src/lib.rs', command: 'cargo test' },
  cmake: {
    toolchains: ['cmake'],
    source: 'sums.c',
    command: 'cmake -S . -B build && cmake --build build && ctest --test-dir build',
  },
  maven: { toolchains: ['maven'], source: 'src/main/java/demo/Sums.java', command: 'mvn -o -B -q test' },
};

for (const [fixture, { toolchains, source, command }] of Object.entries(ecosystems)) {
  describe.skipIf(!(await hasToolchains(...toolchains)))(`the verdict on ${fixture}`, slow, () => {
    const { projectTree, call } = shareProjects({ '': fixture });

    test('equals that of its own command, before and after one break', async () => {
      const compared = { path: projectTree.path, call, command };
      const text = projectTree.read(source);
      await expectSameVerdict(compared, true);
      projectTree.put(source, text.replace('left + right', 'left - right'));
      await expectSameVerdict(compared, false);
      projectTree.put(source, text.replace('left + right', 'left + + absent ('));
      await expectSameVerdict(compared, false);
    });
  });
}
