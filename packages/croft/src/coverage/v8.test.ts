import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CoverageRequest } from '../core/project-tools/coverage-tool.ts';
import { v8 } from './v8.ts';

/** Runs a test file with the current Node, and reads its coverage data. */
async function measure(tree: Record<string, string>, testFile: string, options: readonly string[] = []) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'croft v8 ü-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const argv = [process.execPath, ...options, '--test', testFile] as const;
  const request: CoverageRequest = {
    ...{ argv, runnerArgv: argv, testFile, testText: '' },
    ...{ dataPath: join(root, '.data'), workspacePath: root },
  };
  const command = v8.toRun(request);
  const [program = '', ...rest] = command?.argv ?? [];
  // A test runner sets a variable for its children, and Node behaves differently under it.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...inherited } = process.env;
  const run = spawnSync(program, rest, { cwd: root, env: { ...inherited, ...command?.environment } });
  const text = execFileSync(process.execPath, v8.toReport(request).slice(1), { encoding: 'utf8' });
  const readText = async (path: string) => readFileSync(path, 'utf8');
  const read = await v8.read({ text, request, readText });
  return {
    status: run.status,
    lines: (name: string) => read?.files.get(join(root, name))?.toSorted((a, b) => a - b),
    inexact: read?.inexact?.map((path) => path.slice(root.length + 1)),
    read,
    text,
  };
}

const sign = `
export function sign(x) {
  if (x < 0) {
    return 'minus';
  }
  return 'plus';
}

export function never() {
  return 1;
}
`;

const uses = (call: string, from = './sign.js') =>
  `import test from 'node:test';\nimport * as m from '${from}';\ntest('a', () => { m.${call}; });\n`;

test('counts lines that ran, and leaves out branches and functions that did not run', async () => {
  const tree = { 'sign.js': sign, 'a.test.js': uses('sign(1)'), 'package.json': '{"type":"module"}' };
  const { lines } = await measure(tree, 'a.test.js');
  expect(lines('sign.js')).toEqual([2, 3, 6]);
});

test('a failing test counts the lines that it ran', async () => {
  const tree = { 'sign.mjs': sign, 'a.test.mjs': uses('sign(-1).no()', './sign.mjs') };
  const { lines, status } = await measure(tree, 'a.test.mjs');
  expect(status).toBe(1);
  expect(lines('sign.mjs')).toEqual([2, 3, 4]);
});

test('a shebang line and a byte order mark do not shift the lines', async () => {
  const source = '\uFEFFexports.f = () => {\n  return 1;\n};\nexports.g = () => {\n  return 2;\n};\n';
  const shell = `#!/usr/bin/env node\n${source.slice(1)}`;
  const uses = `const test = require('node:test');\ntest('a', async () => {
  require('./m.cjs').f(); require('./s.cjs').f(); (await import('./e.mjs')).f();
});\n`;
  const esm = source.replaceAll('exports.', 'export const ');
  const { lines } = await measure({ 'm.cjs': source, 'e.mjs': esm, 's.cjs': shell, 'a.test.cjs': uses }, 'a.test.cjs');
  expect(lines('m.cjs')).toEqual([1, 2, 4]);
  expect(lines('e.mjs')).toEqual([1, 2, 4]);
  expect(lines('s.cjs')).toEqual([2, 3, 5]);
});

test('types that Node replaces by blanks do not shift the lines, also with characters of several bytes', async () => {
  const typed = `
export function sign(x: number | 'ü😀'): string {
  const kept: Array<'ß😀'> = [];
  if (x === 'ü😀') return 'none';
  if (typeof x === 'string')
    return kept.join();
  return String(x);
}
`;
  const tree = { 'sign.ts': typed, 'a.test.ts': uses('sign(1)', './sign.ts'), 'package.json': '{"type":"module"}' };
  const { lines } = await measure(tree, 'a.test.ts');
  expect(lines('sign.ts')).toEqual([2, 3, 4, 5, 7]);
});

test('code made by a loader counts by the source lines in its map', async () => {
  const typed = `
enum Side { Minus, Plus }
export function sign(x: number): Side {
  if (x < 0) {
    return Side.Minus;
  }
  return Side.Plus;
}
`;
  const tree = { 'sign.ts': typed, 'a.test.ts': uses('sign(1)', './sign.ts'), 'package.json': '{"type":"module"}' };
  const { lines, inexact } = await measure(tree, 'a.test.ts', ['--experimental-transform-types']);
  expect(lines('sign.ts')).toEqual([2, 3, 4, 7]);
  expect(inexact).toEqual([]);
});

test.each([
  ['a source counts by what was compiled from it', sign, [2, 3, 6]],
  ['a source that has changed since it was compiled does not count', sign.replace('minus', 'less'), undefined],
])('%s', async (_, onDisk, expected) => {
  // Maps as compilers do, with one segment for `export` and one for the rest.
  const rows = sign.split('\n').map((row, index, all) => {
    const start = `AA${index === 0 ? 'A' : 'C'}${all[index - 1]?.startsWith('export ') ? 'P' : 'A'}`;
    return row.startsWith('export ') ? `${start},OAAO` : start;
  });
  const map = { version: 3, sources: ['../src/sign.ts'], sourcesContent: [sign], names: [], mappings: rows.join(';') };
  const inline = Buffer.from(JSON.stringify(map)).toString('base64');
  const tree = {
    'dist/sign.mjs': `${sign}//# sourceMappingURL=data:application/json;base64,${inline}\n`,
    'src/sign.ts': onDisk,
    'a.test.mjs': uses('sign(1)', './dist/sign.mjs'),
  };
  const { lines, inexact } = await measure(tree, 'a.test.mjs');
  expect(lines('src/sign.ts')).toEqual(expected);
  expect(lines('a.test.mjs')).toEqual([1, 2, 3]);
  expect(inexact).toEqual(expected ? [] : ['dist/sign.mjs']);
});

test('code made by a loader without a map is not counted, and the answer says so', async () => {
  const loader = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) {
  const loaded = next(url, context);
  return url.endsWith('/sign.js') ? { ...loaded, source: '/* more */\\n\\n' + loaded.source } : loaded;
} });`;
  const tree = {
    'sign.js': sign,
    'a.test.js': uses('sign(1)'),
    'package.json': '{"type":"module"}',
    'hook.mjs': loader,
  };
  const { lines, inexact } = await measure(tree, 'a.test.js', ['--import', './hook.mjs']);
  expect(lines('a.test.js')).toEqual([1, 2, 3]);
  expect(lines('sign.js')).toBeUndefined();
  expect(inexact).toContain('sign.js');
});

test('coverage of several processes is joined, without packages and Node itself', async () => {
  const tree = {
    'sign.mjs': sign,
    'node_modules/p/index.mjs': 'export const p = 1;\n',
    'child.mjs': `import 'p';\nimport { sign } from './sign.mjs';\nsign(-1);\n`,
    'a.test.mjs': `import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { sign } from './sign.mjs';
test('a', () => { sign(1); execFileSync(process.execPath, ['child.mjs']); });
`,
    'node_modules/p/package.json': '{"exports":"./index.mjs"}',
  };
  const { lines, read, text } = await measure(tree, 'a.test.mjs');
  expect(lines('sign.mjs')).toEqual([2, 3, 4, 6]);
  expect(lines('child.mjs')).toEqual([1, 2, 3]);
  expect([...(read?.files.keys() ?? [])].filter((path) => path.includes('node_modules'))).toEqual([]);
  expect(text).not.toContain('node:internal');
});

test('a test file that was killed counts as not measured, although its child left a report', async () => {
  const tree = {
    'child.mjs': 'export const x = 1;\n',
    'a.test.mjs': `import { execFileSync } from 'node:child_process';
execFileSync(process.execPath, ['child.mjs']);
execFileSync('kill', ['-9', String(process.pid)]);
`,
  };
  const { read, text } = await measure(tree, 'a.test.mjs');
  expect(text).toContain('child.mjs');
  expect(read).toBeUndefined();
});

test.each([
  ['a.test.js', true],
  ['src/a.spec.ts', true],
  ['test/deep/x.mjs', true],
  ['lib/__tests__/x.tsx', true],
  ['test-a.cjs', true],
  ['src/a_test.js', true],
  ['src/latest.js', false],
  ['src/attest/x.js', false],
  ['test/data.json', false],
  ['test/types.d.ts', false],
])('%s is a test file: %s', (path, expected) => {
  expect(v8.isTestFile(path)).toBe(expected);
});
