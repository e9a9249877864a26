import { expect, test } from 'vitest';
import type { MeasuredTest, ProjectCoverage } from '../checks/check-results.ts';
import { mergeCoverage } from './merge-coverage.ts';

const toTest = (lines: string): MeasuredTest => ({
  ...{ version: 'v', inexact: [] },
  sources: { 'a.js': { version: 'v', lines } },
});
const kept: ProjectCoverage = {
  tests: { 'a.test.js': toTest('1'), 'b.test.js': toTest('2') },
  notMeasured: ['c.test.js'],
};

test('a run of one file leaves the coverage of the other files', () => {
  const merged = mergeCoverage(kept, [{ file: 'b.test.js', result: { measured: toTest('3') } }], undefined);
  expect(merged).toEqual({
    tests: { 'a.test.js': toTest('1'), 'b.test.js': toTest('3') },
    notMeasured: ['c.test.js'],
  });
});

test('a run of all files drops files that are gone', () => {
  const merged = mergeCoverage(kept, [{ file: 'b.test.js', result: { measured: toTest('3') } }], ['b.test.js']);
  expect(merged).toEqual({ tests: { 'b.test.js': toTest('3') }, notMeasured: [] });
});

test('a file that could not be measured keeps its last result, or counts as not measured', () => {
  const failed = { reason: 'time ran out' };
  const results = ['a.test.js', 'd.test.js'].map((file) => ({ file, result: failed }));
  const { tests, notMeasured } = mergeCoverage(kept, results, undefined);
  expect(tests['a.test.js']).toEqual(toTest('1'));
  expect(notMeasured).toEqual(['c.test.js', 'd.test.js']);
});

test('a file that was measured is no longer missing, and a file without tests is never missing', () => {
  const results = [
    { file: 'c.test.js', result: { measured: toTest('1') } },
    { file: 'helper_test.go', result: undefined },
  ];
  expect(mergeCoverage(kept, results, undefined).notMeasured).toEqual([]);
});

test('results over the size limit count as not measured', () => {
  const sources = Object.fromEntries(
    Array.from({ length: 15_000 }, (_, at) => [`${at}.js`, { version: 'v', lines: '1' }]),
  );
  const large = { measured: { version: 'v', inexact: [], sources } };
  const results = ['x.test.js', 'y.test.js'].map((file) => ({ file, result: large }));
  const { tests, notMeasured } = mergeCoverage(undefined, results, undefined);
  expect(Object.keys(tests)).toEqual(['x.test.js']);
  expect(notMeasured).toEqual(['y.test.js']);
});
