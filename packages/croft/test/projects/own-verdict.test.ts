import { describe, expect, test } from 'vitest';
import { listTree } from '../history/fixture.ts';
import { script } from '../support/lint-fixture.ts';
import { hasToolchains, type ToolchainName } from '../support/toolchains.ts';
import { addBiome, addTypeScript, type Projects, shareProjects } from './project.ts';

interface Change {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  /** Whether the project's own command passes with it: said once more, so that both cannot be wrong together. */
  readonly passes: boolean;
}

interface OwnCommand {
  readonly name: string;
  readonly toolchains: readonly ToolchainName[];
  readonly fixture?: string;
  readonly tree?: Readonly<Record<string, string>>;
  prepare?(projectTree: Projects): void;
  readonly tool: 'run_lint' | 'run_typecheck';
  /** The command that people of the project run. */
  readonly own: string;
  readonly changes: readonly Change[];
}

const manifest = (scripts: Record<string, string>) => JSON.stringify({ name: 'x', type: 'module', scripts });
const biomeSettings = JSON.stringify({ files: { includes: ['**', '!node_modules'] } });
const compilerOptions = { strict: true, skipLibCheck: true, types: [], lib: ['es2022'], noEmit: true };
const composite = (name: string) => ({ ...compilerOptions, noEmit: false, composite: true, outDir: `../dist/${name}` });
const tsSettings = (include: string) => JSON.stringify({ compilerOptions, include: [include] });
const wrongType = 'export const wrong: number = "text";\n';
const brokenLine = (what: string, files: Record<string, string>): Change => ({ what, files, passes: false });
const fine = (what: string, files: Record<string, string>): Change => ({ what, files, passes: true });
/** Finds whatever has `bad` in it, and answers as it is asked to. */
const xo = script(
  'case "$*" in *--reporter=json*) if grep -q bad a.js; then ' +
    'echo \'[{"filePath":"a.js","messages":[{"ruleId":"r","severity":2,"message":"m","line":1,"column":1}]}]\'; exit 1; ' +
    'else echo \'[{"filePath":"a.js","messages":[]}]\'; fi;; *) if grep -q bad a.js; then exit 1; fi;; esac',
);

const commands: readonly OwnCommand[] = [
  {
    ...{ name: 'a script that is one linter', toolchains: ['node'], tool: 'run_lint', own: 'npm run lint' },
    tree: {
      'package.json': manifest({ lint: 'biome lint --error-on-warnings src' }),
      'biome.json': biomeSettings,
      'src/a.js': 'export const a = 1;\n',
    },
    prepare: (projectTree) => addBiome(projectTree, ''),
    changes: [
      brokenLine('an error', { 'src/b.js': 'debugger;\n' }),
      brokenLine('a warning that the script does not let pass', { 'src/b.js': 'const unused = 1;\n' }),
      fine('an error where the script does not look', { 'other/b.js': 'debugger;\n' }),
    ],
  },
  {
    ...{ name: 'settings of a linter', toolchains: ['node'], tool: 'run_lint', own: 'node_modules/.bin/biome lint' },
    tree: { 'package.json': manifest({}), 'biome.json': biomeSettings, 'src/a.js': 'export const a = 1;\n' },
    prepare: (projectTree) => addBiome(projectTree, ''),
    changes: [
      brokenLine('an error', { 'src/b.js': 'debugger;\n' }),
      fine('a warning', { 'src/b.js': 'const unused = 1;\n' }),
    ],
  },
  {
    ...{ name: 'a script that does more', toolchains: ['node'], tool: 'run_lint', own: 'npm run lint' },
    tree: {
      ...{ 'package.json': manifest({ lint: 'biome check src && node check.mjs' }), 'biome.json': biomeSettings },
      ...{ 'src/a.js': 'export const a = 1;\n', 'check.mjs': '' },
    },
    prepare: (projectTree) => addBiome(projectTree, ''),
    changes: [
      brokenLine('its last step fails', { 'check.mjs': 'console.log("src/a.js:1:1: no"); process.exit(3);\n' }),
      brokenLine('its first step fails', { 'src/b.js': 'debugger;\n' }),
      brokenLine('its first step finds it badly formatted', { 'src/b.js': 'export   const b = 1;\n' }),
    ],
  },
  {
    ...{ name: 'xo', toolchains: ['node'], tool: 'run_lint', own: 'npm run lint' },
    tree: { 'package.json': manifest({ lint: 'xo' }), 'a.js': '', 'node_modules/.bin/xo': xo },
    changes: [brokenLine('an error', { 'a.js': 'bad\n' })],
  },
  {
    ...{ name: 'tsc', toolchains: ['node'], tool: 'run_typecheck', own: 'node_modules/.bin/tsc' },
    tree: { 'package.json': manifest({}), 'tsconfig.json': tsSettings('src'), 'src/a.ts': 'export const a = 1;\n' },
    prepare: (projectTree) => addTypeScript(projectTree, ''),
    changes: [brokenLine('an error', { 'src/b.ts': wrongType }), fine('one elsewhere', { 'other/b.ts': wrongType })],
  },
  ...['', 'tsc -b'].map(
    (typecheck): OwnCommand => ({
      ...{ name: `tsc of projects that refer to each other${typecheck && ', by a script'}`, toolchains: ['node'] },
      ...{ tool: 'run_typecheck', own: 'node_modules/.bin/tsc --build' },
      tree: {
        'package.json': manifest(typecheck ? { typecheck } : {}),
        'tsconfig.json': JSON.stringify({ files: [], references: [{ path: 'a' }, { path: 'b' }] }),
        'a/tsconfig.json': JSON.stringify({ compilerOptions: composite('a') }),
        'b/tsconfig.json': JSON.stringify({ compilerOptions: composite('b'), references: [{ path: '../a' }] }),
        ...{
          'a/a.ts': 'export const a = 1;\n',
          'b/b.ts': 'import { a } from "../a/a";\nexport const b: number = a;\n',
        },
      },
      prepare: (projectTree) => addTypeScript(projectTree, ''),
      changes: [
        fine('nothing, so that all is built already', {}),
        brokenLine('an error in one of them', { 'b/c.ts': wrongType }),
        brokenLine('an error in one that another refers to', { 'a/a.ts': 'export const a = "text";\n' }),
      ],
    }),
  ),
  {
    ...{ name: 'a script for types', toolchains: ['node'], tool: 'run_typecheck', own: 'npm run typecheck' },
    tree: {
      ...{ 'package.json': manifest({ typecheck: 'tsc -p tsconfig.lib.json' }), 'tsconfig.json': tsSettings('.') },
      ...{ 'tsconfig.lib.json': tsSettings('lib'), 'lib/a.ts': 'export const a = 1;\n' },
    },
    prepare: (projectTree) => addTypeScript(projectTree, ''),
    changes: [brokenLine('an error', { 'lib/b.ts': wrongType }), fine('one elsewhere', { 'src/b.ts': wrongType })],
  },
  {
    ...{ name: 'flake8', toolchains: ['flake8'], fixture: 'python', tool: 'run_lint', own: 'flake8' },
    changes: [brokenLine('an unused import', { 'b.py': 'import os\n' })],
  },
  {
    ...{ name: 'mypy', toolchains: ['mypy'], fixture: 'python', tool: 'run_typecheck', own: 'mypy .' },
    changes: [brokenLine('an error', { 'b.py': 'wrong: int = "text"\n' })],
  },
  {
    ...{ name: 'mypy with files of its own', toolchains: ['mypy'], tool: 'run_typecheck', own: 'mypy' },
    tree: {
      'setup.cfg': '[mypy]\ncache_dir = /dev/null\nfiles = lib, tools/*.py\n',
      'lib/a.py': 'a = 1\n',
      'tools/t.py': '',
    },
    changes: [
      brokenLine('an error in one of them', { 'lib/b.py': 'wrong: int = "text"\n' }),
      fine('an error elsewhere', { 'docs/conf.py': 'wrong: int = "text"\n' }),
    ],
  },
  {
    ...{ name: 'pylint', toolchains: ['pylint'], tool: 'run_lint', own: 'pylint --recursive=y .' },
    tree: { 'setup.py': '"""X."""\n', '.pylintrc': '[MAIN]\ndisable=C\n', 'a.py': '"""X."""\nA = 1\n' },
    changes: [brokenLine('an error', { 'b.py': '"""X."""\nprint(absent)\n' })],
  },
  {
    ...{ name: 'go vet', toolchains: ['go'], fixture: 'go', tool: 'run_lint', own: 'go vet ./...' },
    changes: [
      brokenLine('a wrong format', {
        'b.go': 'package sums\n\nimport "fmt"\n\nfunc Show() { fmt.Printf("%d", "x") }\n',
      }),
      brokenLine('a wrong type', { 'b.go': 'package sums\n\nvar Wrong int = "text"\n' }),
    ],
  },
  {
    ...{ name: 'clippy', toolchains: ['rust'], fixture: 'rust', tool: 'run_lint', own: 'cargo clippy --all-targets' },
    changes: [
      fine('a warning', { 'tests/b.rs': 'pub fn two() -> i32 {\n    return 2;\n}\n' }),
      brokenLine('a warning that is denied', {
        'tests/b.rs': '#![deny(warnings)]\npub fn two() -> i32 {\n    return 2;\n}\n',
      }),
    ],
  },
  {
    ...{
      name: 'cargo check',
      toolchains: ['rust'],
      fixture: 'rust',
      tool: 'run_typecheck',
      own: 'cargo check --lib --tests',
    },
    changes: [
      brokenLine('a wrong type', { 'tests/b.rs': 'pub fn two() -> i32 {\n    "two"\n}\n' }),
      fine('a bench that takes an unstable compiler', { 'benches/b.rs': '#![feature(test)]\nextern crate test;\n' }),
    ],
  },
  {
    ...{ name: 'shellcheck', toolchains: ['shellcheck'], fixture: 'shell', tool: 'run_lint', own: 'shellcheck *.sh' },
    changes: [brokenLine('an unquoted variable', { 'greet.sh': '#!/bin/sh\necho hello $1\n' })],
  },
  {
    ...{ name: 'cmake', toolchains: ['cmake'], fixture: 'cmake', tool: 'run_typecheck' },
    own: 'cmake -S . -B /tmp/own > /dev/null && cmake --build /tmp/own',
    changes: [
      brokenLine('an error', { 'sums.c': 'int add(int left, int right) { return absent; }\n' }),
      fine('a warning', {
        'sums.h':
          'int add(int left, int right);\nint multiply(int left, int right);\nstatic int unused(void) { return 1; }\n',
      }),
    ],
  },
  {
    ...{ name: 'Maven', toolchains: ['maven'], fixture: 'maven', tool: 'run_typecheck', own: 'mvn -q test-compile' },
    changes: [brokenLine('an error', { 'src/main/java/demo/B.java': 'package demo;\nclass B { int b = "text"; }\n' })],
  },
  {
    ...{ name: 'javac', toolchains: ['maven'], tool: 'run_typecheck', own: 'javac -d /tmp/own *.java' },
    tree: { 'A.java': 'class A {}\n' },
    changes: [
      brokenLine('an error', { 'B.java': 'class B { int b = "text"; }\n' }),
      fine('a warning', { 'B.java': 'import java.util.List;\nclass B { List b; }\n' }),
    ],
  },
  {
    ...{ name: 'rubocop', toolchains: ['rubocop'], tool: 'run_lint', own: 'rubocop' },
    tree: {
      Rakefile: '# frozen_string_literal: true\n',
      '.rubocop.yml': 'AllCops:\n  NewCops: disable\n',
      'a.rb': '# frozen_string_literal: true\n\nputs 1\n',
    },
    changes: [brokenLine('a bad quote', { 'b.rb': '# frozen_string_literal: true\n\nputs "x"\n' })],
  },
  {
    ...{ name: 'phpcs', toolchains: ['phpcs'], tool: 'run_lint', own: 'phpcs -q' },
    tree: {
      'composer.json': '{"name":"x/y"}',
      'phpcs.xml': '<?xml version="1.0"?>\n<ruleset name="x"><file>src</file><rule ref="PSR12"/></ruleset>\n',
      'src/a.php': '<?php\n\n$a = 1;\n',
    },
    changes: [brokenLine('bad spaces', { 'src/b.php': '<?php\n$b=1 ;\n' })],
  },
];

const ready: OwnCommand[] = [];
for (const command of commands) if (await hasToolchains(...command.toolchains)) ready.push(command);

describe.skipIf(ready.length === 0)(
  'the verdict equals that of the project’s own command',
  { timeout: 300_000 },
  () => {
    const { projectTree, call } = shareProjects({});

    /** The files of the project itself: what was built is another after every build. */
    const listAll = (names: readonly string[]) => {
      const all = listTree(projectTree.path);
      return names.map((name) => [name, all[name]]);
    };

    async function compare({ tool, own }: OwnCommand, names: readonly string[], passes: boolean): Promise<void> {
      const before = listAll(names);
      const answer = await call(tool);
      expect(listAll(names)).toEqual(before);
      const ran = await call('bash', { command: own });
      expect(ran.structured.exitCode === 0, ran.text).toBe(passes);
      expect(['clean', 'warnings'].includes(answer.structured.state), answer.text).toBe(passes);
      expect(answer.structured.runs[0].putBack).toBeUndefined();
    }

    test.each(ready)('$name', async (command) => {
      const { fixture, tree = {}, prepare, changes } = command;
      projectTree.fill(fixture === undefined ? {} : { '': fixture }, tree);
      prepare?.(projectTree);
      await call('bash', { command: 'chmod -R a+x node_modules/.bin; rm -rf /tmp/own' });
      const names = Object.keys(listTree(projectTree.path));
      await compare(command, names, true);
      for (const { what, files, passes } of changes) {
        const was = Object.fromEntries(Object.keys(files).map((name) => [name, before(name)]));
        for (const [name, text] of Object.entries(files)) projectTree.put(name, text);
        await compare(command, [...names, ...Object.keys(files)], passes).catch((thrown) => {
          throw new Error(`${command.name}, ${what}: ${thrown.message}`);
        });
        for (const [name, text] of Object.entries(was))
          text === undefined ? projectTree.remove(name) : projectTree.put(name, text);
      }
    });

    function before(name: string): string | undefined {
      try {
        return projectTree.read(name);
      } catch {
        return undefined;
      }
    }
  },
);
