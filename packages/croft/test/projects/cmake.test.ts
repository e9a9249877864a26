import { expect } from 'vitest';
import { describeEcosystem } from './describe-ecosystem.ts';

await describeEcosystem('a C program with CMake and ctest', {
  toolchains: ['cmake'],
  fixture: 'cmake',
  language: 'cpp',
  source: 'sums.c',
  tests: 'sums_test.c',
  stops: { adds: 'add(1, 2)', multiplies: 'multiply(3, 4)' },
  breaks: ['left + right', 'left + absent'],
  program: 'cmake',
  checks: [
    {
      tool: 'run_typecheck',
      file: 'sums.h',
      text: 'int add(int left, int right);\nint multiply(int left, int right);\nstatic int unused(void) { return 1; }\n',
      finding: { line: 3, rule: expect.stringContaining('unused-function') },
    },
  ],
});
