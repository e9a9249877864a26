import { z } from 'zod';
import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner, type TestFailure } from '../core/checks/test-runner.ts';
import { readJson, toRelative } from '../core/readers/read-output.ts';
import {
  anyOf,
  empty,
  escapePattern,
  filesOf,
  judge,
  lineIn,
  namesOf,
  withoutReport,
} from '../core/readers/read-tests.ts';

const Test = z.object({
  fullTitle: z.string(),
  file: z.string().nullish(),
  err: z
    .object({
      message: z.string().optional(),
      stack: z.string().optional(),
      expected: z.string().optional().catch(undefined),
      actual: z.string().optional().catch(undefined),
    })
    .default({}),
});

const Report = z.object({
  stats: z.object({ passes: z.int().min(0), pending: z.int().min(0), failures: z.int().min(0) }),
  failures: z.array(Test),
});

export const mocha = defineTestRunner({
  name: 'mocha',
  toArgv(argv, { files, named, name, again, reportFile }) {
    const names = namesOf(again);
    const pattern = names ? anyOf(names) : name === undefined || again ? undefined : escapePattern(name);
    return [
      ...withFiles(argv, again ? filesOf(again) : files, named),
      ...['--reporter=json', `--reporter-option=output=${reportFile}`],
      ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    ];
  },
  read(output) {
    const report = readJson(Report, output.report);
    if (!report) return /^Error: No test files found/m.test(output.stderr) ? empty : withoutReport(output);
    const { passes, pending, failures: failed } = report.stats;
    const failures = report.failures.map((test) => toFailure(test, output.directory));
    return judge({ passed: passes, skipped: pending, failed: Math.max(failed, failures.length), failures }, output);
  },
});

/** It ends all tests of its suite, so that there is more to run again than the one it is named after. */
const isHook = / "(?:before|after) (?:each|all)" hook\b/;

function toFailure({ fullTitle, file, err }: z.output<typeof Test>, directory: string): TestFailure {
  const { message = 'failed', stack = '', expected, actual } = err;
  const path = file ? toRelative(file, directory) : undefined;
  return {
    name: fullTitle,
    ...(path !== undefined && { file: path, line: lineIn(stack, path) }),
    message,
    ...(expected !== undefined && actual !== undefined && { diff: `- ${expected}\n+ ${actual}` }),
    ...(isHook.test(fullTitle) && { isBuild: true as const }),
  };
}
