import { expect, test } from 'vitest';
import type { CoverageRequest } from '../core/coverage/coverage.ts';
import { llvmCov } from './llvm-cov.ts';

const request: CoverageRequest = {
  ...{ argv: ['cargo', 'test'], runnerArgv: ['cargo', 'test', '--test', 'sign'] },
  ...{ testFile: 'tests/sign.rs', testText: '', place: '/tmp/p', workspacePath: '/w' },
};

/** In the form of lcov, as Node 24 wrote it and LLVM does. */
const lcov = `TN:
SF:/w/src/lib.rs
FN:1,sign
FNDA:2,sign
BRDA:1,0,0,1
DA:1,2
DA:2,2
DA:3,0
DA:5,1
LF:4
LH:3
end_of_record
TN:
SF:/w/src/other.rs
DA:1,0
end_of_record
`;

test('lines with a count over zero, by file', async () => {
  const read = await llvmCov.read({ text: lcov, request, readText: async () => undefined });
  expect(read?.files.get('/w/src/lib.rs')).toEqual([1, 2, 5]);
  expect(read?.files.get('/w/src/other.rs')).toEqual([]);
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
