import { expect, test } from 'vitest';
import type { CoverageRequest } from '../core/project-tools/coverage-tool.ts';
import { jestCoverage, vitestCoverage } from './istanbul.ts';

const request: CoverageRequest = {
  ...{ argv: ['jest', '$FILES'], runnerArgv: ['jest', 'a.test.js'] },
  ...{ testFile: 'a.test.js', testText: '', dataPath: '/tmp/p', workspacePath: '/w' },
};

async function read(report: unknown, sources: Record<string, string>) {
  const text = typeof report === 'string' ? report : JSON.stringify(report);
  const found = await jestCoverage.read({ text, request, readText: async (path) => sources[path] });
  return found && Object.fromEntries([...found.files].map(([path, lines]) => [path, [...lines]]));
}

const at = (line: number, column: number | null) => ({ line, column });
const span = (from: ReturnType<typeof at>, to: ReturnType<typeof at>) => ({ start: from, end: to });

const source = `exports.sign = (x) => {
  if (x < 0) {
    return 'minus';
  }
  return 'plus';
};

exports.never = function () {
  return 1;
};
`;

/** Recorded from jest 30.5.2 for `sign(1)`, without branches and hashes. */
const jestReport = {
  '/w/m.js': {
    path: '/w/m.js',
    statementMap: {
      0: span(at(1, 0), at(6, 2)),
      1: span(at(2, 2), at(4, 3)),
      2: span(at(3, 4), at(3, 19)),
      3: span(at(5, 2), at(5, 16)),
      4: span(at(8, 0), at(10, 2)),
      5: span(at(9, 2), at(9, 11)),
    },
    fnMap: {
      0: { name: '(anonymous_0)', decl: span(at(1, 15), at(1, 16)), loc: span(at(1, 22), at(6, 1)), line: 1 },
      1: { name: '(anonymous_1)', decl: span(at(8, 16), at(8, 17)), loc: span(at(8, 28), at(10, 1)), line: 8 },
    },
    s: { 0: 1, 1: 1, 2: 0, 3: 1, 4: 1, 5: 0 },
    f: { 0: 1, 1: 0 },
  },
};

test('counts statements that ran, and leaves out branches and functions that did not run', async () => {
  expect(await read(jestReport, { '/w/m.js': source })).toEqual({ '/w/m.js': [1, 2, 5, 8] });
});

const typed = `export function sign(x: number): string {
  if (x < 0) {
    return 'minus';
  }
  return [
    'plus',
    x,
  ].join('');
}

export const never = (): number => {
  // not
  return 1;
};
`;

/** Recorded from @vitest/coverage-v8 3.2.7 for `sign(-1)`, where each line is a statement. */
const vitestReport = {
  '/w/m.ts': {
    path: '/w/m.ts',
    all: false,
    statementMap: {
      0: span(at(1, 0), at(1, 41)),
      1: span(at(2, 0), at(2, 14)),
      2: span(at(3, 0), at(3, 19)),
      3: span(at(4, 0), at(4, 3)),
      4: span(at(5, 0), at(5, 10)),
      5: span(at(6, 0), at(6, 11)),
      6: span(at(7, 0), at(7, 6)),
      7: span(at(8, 0), at(8, 13)),
      8: span(at(9, 0), at(9, 1)),
      10: span(at(11, 0), at(11, 36)),
      12: span(at(13, 0), at(13, 11)),
      13: span(at(14, 0), at(14, 2)),
    },
    s: { 0: 1, 1: 1, 2: 1, 3: 1, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0, 10: 1, 12: 0, 13: 0 },
    fnMap: {
      0: { name: 'sign', decl: span(at(1, 7), at(9, 1)), loc: span(at(1, 7), at(9, 1)), line: 1 },
      1: { name: 'never', decl: span(at(11, 21), at(14, 2)), loc: span(at(11, 21), at(14, 2)), line: 11 },
    },
    f: { 0: 1, 1: 0 },
  },
};

test('lines that ran where each line is a statement', async () => {
  expect(await read(vitestReport, { '/w/m.ts': typed })).toEqual({ '/w/m.ts': [1, 2, 3, 11] });
});

test('every line of a statement that ran counts, and an unknown column means the end of the line', async () => {
  const report = {
    a: { path: 'a', statementMap: { 0: span(at(1, 0), at(3, null)) }, s: { 0: 1 }, fnMap: {}, f: {} },
  };
  expect(await read(report, { a: 'call(\n  one,\n  two);\nnext();\n' })).toEqual({ a: [1, 2, 3] });
});

test('a missing file and an invalid report give no coverage', async () => {
  expect(await read(jestReport, {})).toEqual({});
  expect(await read('{"x": 1}', {})).toBeUndefined();
  expect(await read('', {})).toBeUndefined();
});

test('asks the test runner for its own report, in a directory of croft', () => {
  expect(jestCoverage.toRun(request)?.argv).toContain('--coverageDirectory=/tmp/p');
  expect(vitestCoverage.toRun(request)?.argv).toContain('--coverage.reportsDirectory=/tmp/p');
  expect(jestCoverage.toReport(request)).toEqual(['cat', '/tmp/p/coverage-final.json']);
});
