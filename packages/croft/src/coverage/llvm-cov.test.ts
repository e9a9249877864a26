import { expect, test } from 'vitest';
import type { CoverageRequest } from '../core/project-tools/coverage-tool.ts';
import { llvmCov } from './llvm-cov.ts';

const request: CoverageRequest = {
  ...{ argv: ['cargo', 'test'], runnerArgv: ['cargo', 'test', '--test', 'sign'] },
  ...{ testFile: 'tests/sign.rs', testText: '', dataPath: '/tmp/p', workspacePath: '/w' },
};

/**
 * As `llvm-cov export -format=lcov` of LLVM 21 wrote it of a test that rustc 1.97 had compiled with
 * `-C instrument-coverage`, which `cargo llvm-cov --lcov` hands on. A closure and a generic function are in it twice.
 */
const lcov = `SF:/w/src/lib.rs
FN:13,_RINvCslkI8GBq3QkC_4sums4eachlECsg0wwLJaEY3R_4sign
FN:14,_RNCINvCslkI8GBq3QkC_4sums4eachlE0Csg0wwLJaEY3R_4sign
FN:1,_RNvCslkI8GBq3QkC_4sums4sign
FN:8,_RNvCslkI8GBq3QkC_4sums6unused
FN:13,_RINvCslkI8GBq3QkC_4sums4eachpEB2_
FNDA:1,_RINvCslkI8GBq3QkC_4sums4eachlECsg0wwLJaEY3R_4sign
FNDA:2,_RNCINvCslkI8GBq3QkC_4sums4eachlE0Csg0wwLJaEY3R_4sign
FNDA:1,_RNvCslkI8GBq3QkC_4sums4sign
FNDA:0,_RNvCslkI8GBq3QkC_4sums6unused
FNDA:0,_RINvCslkI8GBq3QkC_4sums4eachpEB2_
FNF:4
FNH:3
DA:1,1
DA:2,1
DA:3,0
DA:4,1
DA:5,1
DA:6,1
DA:8,0
DA:9,0
DA:10,0
DA:11,0
DA:13,1
DA:14,2
DA:15,1
BRF:0
BRH:0
LF:14
LH:9
end_of_record
SF:/w/tests/sign.rs
FN:2,_RNvCsg0wwLJaEY3R_4signs_11is_positive
FNDA:1,_RNvCsg0wwLJaEY3R_4signs_11is_positive
FNF:1
FNH:1
DA:2,1
DA:3,1
DA:4,1
DA:5,1
BRF:0
BRH:0
LF:4
LH:4
end_of_record
`;

test('reads the lines with a count over zero, by file', async () => {
  const read = await llvmCov.read({ text: lcov, request, readText: async () => undefined });
  expect([...(read?.files ?? [])]).toEqual([
    ['/w/src/lib.rs', [1, 2, 4, 5, 6, 13, 14, 15]],
    ['/w/tests/sign.rs', [2, 3, 4, 5]],
  ]);
});

test('a file without an executed line has no lines', async () => {
  const text = 'SF:/w/src/other.rs\nDA:1,0\nend_of_record\n';
  const read = await llvmCov.read({ text, request, readText: async () => undefined });
  expect(read?.files.get('/w/src/other.rs')).toEqual([]);
});

test.each([
  ['tests/sign.rs', ['--test', 'sign']],
  ['tests/sign/main.rs', ['--test', 'sign']],
  ['src/lib.rs', ['--lib']],
  ['src/main.rs', ['--bins']],
])('%s is run as one test program', (testFile, target) => {
  const command = llvmCov.toRun({ ...request, testFile });
  expect(command?.argv.slice(-target.length)).toEqual(target);
  expect(command?.environment?.CARGO_LLVM_COV_SETUP).toBe('no');
});

test('a module shared by tests is not run as a test program', () => {
  expect(llvmCov.isTestFile('tests/common/mod.rs')).toBe(false);
  expect(llvmCov.toRun({ ...request, testFile: 'tests/--config.rs/x.rs' })).toBeUndefined();
});
