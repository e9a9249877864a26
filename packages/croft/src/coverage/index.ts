export { coveragePy } from './coverage-py.ts';
export { goCover } from './go-cover.ts';
export { jestCoverage, vitestCoverage } from './istanbul.ts';
export { llvmCov } from './llvm-cov.ts';
export { v8 } from './v8.ts';
