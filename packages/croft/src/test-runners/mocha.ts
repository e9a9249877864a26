import { z } from 'zod';
import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner, type TestFailure } from '../core/project-tools/test-runner.ts';
import { readJson, toRelative } from '../core/readers/reader-helpers.ts';
import {
  emptyTestReport,
  escapePattern,
  exactNamesPattern,
  filesOfFailures,
  lineIn,
  missingTestReport,
  selectableNames,
  toTestReport,
} from '../core/readers/tests/to-test-report.ts';

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
    const names = selectableNames(again);
    const pattern = names ? exactNamesPattern(names) : name === undefined || again ? undefined : escapePattern(name);
    return [
      ...withFiles(argv, again ? filesOfFailures(again) : files, named),
      ...['--reporter=json', `--reporter-option=output=${reportFile}`],
      ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    ];
  },
  read(output) {
    const report = readJson(Report, output.report || findPrinted(output.stdout));
    if (!report)
      return /^Error: No test files found/m.test(output.stderr) ? emptyTestReport : missingTestReport(output);
    const { passes, pending, failures: failed } = report.stats;
    const failures = report.failures.map((test) => toFailure(test, output.directory));
    return toTestReport(
      { passed: passes, skipped: pending, failed: Math.max(failed, failures.length), failures },
      output,
    );
  },
});

/**
 * Finds the report in the output: before version 9.2, mocha cannot write it to a file and mixes it with what the tests
 * print.
 */
function findPrinted(stdout: string): string | undefined {
  const start = stdout.lastIndexOf('{\n  "stats": {');
  const end = start < 0 ? -1 : stdout.indexOf('\n}', start);
  return end < 0 ? undefined : stdout.slice(start, end + 2);
}

/** A failed hook ends all tests of its suite, so there is more to repeat than the test that it is named after. */
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
