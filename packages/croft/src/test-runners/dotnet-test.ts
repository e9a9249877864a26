import { withFiles } from '../core/project-tools/linter.ts';
import {
  type CheckOutput,
  defineTestRunner,
  type TestFailure,
  type TestReport,
} from '../core/project-tools/test-runner.ts';
import { findMissingDotnetSdk } from '../core/readers/missing-dotnet-sdk.ts';
import { toRelative, unreadableTests } from '../core/readers/reader-helpers.ts';
import {
  buildFailureReason,
  findBuildErrors,
  missingTestReport,
  selectableNames,
  toTestReport,
} from '../core/readers/tests/to-test-report.ts';
import { parseTrx, type TrxResult } from '../lib/reports/trx.ts';

export const dotnetTest = defineTestRunner({
  name: 'dotnet-test',
  cannotPick: () => [],
  takesOneFile: true,
  environment: { DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1', DOTNET_CLI_UI_LANGUAGE: 'en' },
  toArgv(argv, { files, name, again, reportFile }) {
    const [program, ...rest] = withFiles(argv, []);
    const names = selectableNames(again);
    const filter = names
      ? names.map((one) => `FullyQualifiedName=${escapeFilter(one)}`).join('|')
      : again
        ? ''
        : toFilter(files, name);
    return [
      program,
      ...rest,
      ...['--no-restore', '--logger=trx', `--results-directory=${reportFile}`],
      ...(filter === '' ? [] : [`--filter=${filter}`]),
    ];
  },
  read(output) {
    const builds = output.exitCode === 0 ? [] : findBuildErrors(output);
    if (output.report === undefined || output.report.trim() === '') return readOthers(output);
    const report = parseTrx(output.report);
    if (!report)
      return output.exitCode === 0 ? unreadableTests('its report is not valid TRX') : missingTestReport(output);
    const { results, errors } = report;
    const failures = results.filter(({ state }) => state === 'failed').map((one) => toFailure(one, output));
    const count = (state: TrxResult['state']) => results.filter((one) => one.state === state).length;
    const counts = { passed: count('passed'), failed: failures.length, skipped: count('skipped') };
    const [first] = builds;
    const isBuild = first && / error [A-Z]{2,6}\d{3,5}: /.test(output.stdout);
    const broken = isBuild ? buildFailureReason(first, output) : whyStopped(errors, failures);
    return toTestReport({ ...counts, failures: [...(isBuild ? builds : []), ...failures], broken }, output);
  },
});

function readOthers(output: CheckOutput): TestReport {
  const broken = findMissingDotnetSdk(output);
  if (broken === undefined) return missingTestReport(output);
  return toTestReport({ passed: 0, failed: 0, skipped: 0, failures: [], broken }, output);
}

/** Explains a test program that crashed: it has no results for the remaining tests, or none at all. */
function whyStopped(errors: readonly string[], failures: readonly TestFailure[]): string | undefined {
  // Test adapters also report each failed test as an error of the run.
  const stopped = failures.length === 0 ? errors[0] : errors.find((error) => /\baborted\b/.test(error));
  return stopped?.split('\n', 3).join('\n');
}

function toFailure({ name, id, message, stack }: TrxResult, { directory }: CheckOutput): TestFailure {
  const [, path, line] = stack.match(/ in ([^\n]{1,500}):line (\d{1,9})/) ?? [];
  return {
    name,
    ...(path !== undefined && { file: toRelative(path, directory), line: Number(line) }),
    message,
    id,
  };
}

function toFilter(files: readonly string[], name: string | undefined): string {
  const classes = files.map((file) => file.slice(file.lastIndexOf('/') + 1).replace(/\.\w+$/, ''));
  const inClasses = classes.map((one) => `FullyQualifiedName~${escapeFilter(one)}.`).join('|');
  const named = name === undefined ? '' : `FullyQualifiedName~${escapeFilter(name)}`;
  return [inClasses === '' ? '' : `(${inClasses})`, named].filter((part) => part !== '').join('&');
}

/**
 * Escapes the filter operators `( ) & | = ! ~` and drops a test's parameters, which are not part of the name in a
 * filter.
 */
function escapeFilter(text: string): string {
  return text.replace(/\(.*$/s, '').replace(/[\\&|=!~()]/g, '\\$&');
}
