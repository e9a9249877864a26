import { expect, test } from 'vitest';
import type { CoverageRequest } from '../core/coverage/coverage.ts';
import { llvmCov } from './llvm-cov.ts';

const request: CoverageRequest = {
  ...{ argv: ['cargo', 'test'], runnerArgv: ['cargo', 'test', '--test', 'sign'] },
  ...{ testFile: 'tests/sign.rs', testText: '', place: '/tmp/p', workspacePath: '/w' },
};

/** As `llvm-cov export -format=lcov` of LLVM 14 wrote it, which `cargo llvm-cov --lcov` hands on; the second file added. */
const lcov = `SF:/w/src/lib.c
FN:2,used
FN:8,unused
FN:11,main
FNDA:1,used
FNDA:0,unused
FNDA:1,main
FNF:3
FNH:2
DA:2,1
DA:3,1
DA:4,1
DA:5,1
DA:6,0
DA:7,1
DA:8,0
DA:9,0
DA:10,0
DA:11,1
DA:12,1
DA:13,1
DA:14,1
BRDA:3,0,0,1
BRDA:3,0,1,0
BRF:2
BRH:1
LF:13
LH:9
end_of_record
SF:/w/src/other.c
DA:1,0
end_of_record
`;

test('lines with a count over zero, by file', async () => {
  const read = await llvmCov.read({ text: lcov, request, readText: async () => undefined });
  expect(read?.files.get('/w/src/lib.c')).toEqual([2, 3, 4, 5, 7, 11, 12, 13, 14]);
  expect(read?.files.get('/w/src/other.c')).toEqual([]);
});

test.each([
  ['tests/sign.rs', ['--test', 'sign']],
  ['tests/sign/main.rs', ['--test', 'sign']],
  ['src/lib.rs', ['--lib']],
  ['src/main.rs', ['--bins']],
])('%s is one program of tests', (testFile, target) => {
  const command = llvmCov.toRun({ ...request, testFile });
  expect(command?.argv.slice(-target.length)).toEqual(target);
  expect(command?.environment?.CARGO_LLVM_COV_SETUP).toBe('no');
});

test('a module of tests is not a program', () => {
  expect(llvmCov.isTestFile('tests/common/mod.rs')).toBe(false);
  expect(llvmCov.toRun({ ...request, testFile: 'tests/--config.rs/x.rs' })).toBeUndefined();
});
