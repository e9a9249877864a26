import { utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hasToolchains } from '../support/toolchains.ts';
import { describeEcosystem } from './describe-ecosystem.ts';
import { connectTo, makeProjects } from './project.ts';

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

test.skipIf(!(await hasToolchains('python')))(
  'an edit that keeps the size and the second of a Python source is noticed',
  async () => {
    using projectTree = makeProjects({ '': 'python' });
    await using session = await connectTo(projectTree);
    const put = (text: string) => {
      projectTree.put('sums.py', text);
      utimesSync(projectTree.at('sums.py'), 1_700_000_000, 1_700_000_000);
    };
    const source = projectTree.read('sums.py');
    put(source);
    expect((await session.call('run_tests')).structured).toMatchObject({ state: 'passed' });
    put(source.replace('left + right', 'left - right'));
    expect((await session.call('run_tests')).structured).toMatchObject({ state: 'failed', runs: [{ failed: 1 }] });
  },
);
