import { expect } from 'vitest';
import { describeEcosystem } from './describe-ecosystem.ts';

await describeEcosystem('a Python package with pytest, flake8 and mypy', {
  toolchains: ['python'],
  fixture: 'python',
  language: 'python',
  source: 'sums.py',
  tests: 'test_sums.py',
  stops: { adds: 'add(1, 2)', multiplies: 'multiply(3, 4)' },
  breaks: ['def add(', 'def add(('],
  program: 'pytest',
  checks: [
    {
      tool: 'run_lint',
      toolchains: ['flake8'],
      file: 'unused.py',
      text: 'import os\n',
      finding: { line: 1, rule: 'F401' },
    },
    {
      tool: 'run_typecheck',
      toolchains: ['mypy'],
      file: 'wrong.py',
      text: 'fine = 1\nwrong: int = "text"\n',
      finding: { line: 2, rule: 'assignment', message: expect.stringContaining('Incompatible types') },
    },
  ],
});
