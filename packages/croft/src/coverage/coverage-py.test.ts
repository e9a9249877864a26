import { expect, test } from 'vitest';
import type { CoverageRequest } from '../core/project-tools/coverage-tool.ts';
import type { Argv } from '../core/projects/profile.ts';
import { coveragePy } from './coverage-py.ts';

/** Recorded from coverage.py 7.16.2, without the parts by function and class. */
const recorded = JSON.stringify({
  meta: { format: 3, version: '7.16.2', branch_coverage: false, show_contexts: false },
  files: {
    'pkg/__init__.py': { executed_lines: [], missing_lines: [], excluded_lines: [] },
    'pkg/m.py': {
      executed_lines: [1, 2, 4, 7],
      summary: { covered_lines: 4, num_statements: 6, percent_covered: 66.67, missing_lines: 2 },
      missing_lines: [3, 8],
      excluded_lines: [],
    },
    '/w/tests/test_a.py': { executed_lines: [1, 4, 5], missing_lines: [], excluded_lines: [] },
  },
});

function toRequest(runnerArgv: Argv): CoverageRequest {
  const rest = { testFile: 'tests/test_a.py', testText: '', dataPath: '/tmp/p', workspacePath: '/w' };
  return { argv: runnerArgv, runnerArgv, ...rest };
}

test('reads the executed lines, and leaves out the missing ones', async () => {
  const request = toRequest(['pytest']);
  const read = await coveragePy.read({ text: recorded, request, readText: async () => undefined });
  expect(Object.fromEntries(read?.files ?? [])).toEqual({
    'pkg/m.py': [1, 2, 4, 7],
    '/w/tests/test_a.py': [1, 4, 5],
  });
});

test.each([
  ['on the PATH', ['pytest', '-q', 'a.py'], ['python3']],
  ['of a virtual environment', ['./.venv/bin/pytest', '-q', 'a.py'], ['./.venv/bin/python']],
  ['of a package manager', ['uv', 'run', 'pytest', '-q', 'a.py'], ['uv', 'run', 'python']],
  ['as a module', ['.venv/bin/python3', '-m', 'pytest', '-q', 'a.py'], ['.venv/bin/python3']],
] as const)('runs the pytest %s under coverage', (_, argv, python) => {
  const request = toRequest(argv);
  const run = ['-m', 'coverage', 'run', '--rcfile=/dev/null', '--data-file=/tmp/p', '-m', 'pytest', '-q', 'a.py'];
  expect(coveragePy.toRun(request)?.argv).toEqual([...python, ...run]);
  expect(coveragePy.toReport(request).slice(0, python.length + 3)).toEqual([...python, '-m', 'coverage', 'json']);
});

test('a command that is not pytest cannot be measured', () => {
  expect(coveragePy.toRun(toRequest(['tox', 'pytest-ish']))).toBeUndefined();
});
