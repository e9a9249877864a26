import { withFiles } from '../core/checks/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure, type TestReport } from '../core/checks/test-runner.ts';
import { findMissingSdk } from '../core/readers/dotnet-sdk.ts';
import { toRelative, unreadable } from '../core/readers/read-output.ts';
import { findBuildErrors, judge, namesOf, reasonOf, withoutReport } from '../core/readers/read-tests.ts';
import { parseTrx, type TrxResult } from '../lib/trx.ts';

export const dotnetTest = defineTestRunner({
  name: 'dotnet-test',
  cannotPick: () => [],
  takesOneFile: true,
  environment: { DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1', DOTNET_CLI_UI_LANGUAGE: 'en' },
  toArgv(argv, { files, name, again, reportFile }) {
    const [program, ...rest] = withFiles(argv, []);
    const names = namesOf(again);
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
    if (!report) return output.exitCode === 0 ? unreadable('its report is no TRX') : withoutReport(output);
    const { results, errors } = report;
    const failures = results.filter(({ state }) => state === 'failed').map((one) => toFailure(one, output));
    const count = (state: TrxResult['state']) => results.filter((one) => one.state === state).length;
    const counts = { passed: count('passed'), failed: failures.length, skipped: count('skipped') };
    const [first] = builds;
    const isBuild = first && / error [A-Z]{2,6}\d{3,5}: /.test(output.stdout);
    const broken = isBuild ? reasonOf(first, output) : whyStopped(errors, failures);
    return judge({ ...counts, failures: [...(isBuild ? builds : []), ...failures], broken }, output);
  },
});

function readOthers(output: CheckOutput): TestReport {
  const broken = findMissingSdk(output);
  if (broken === undefined) return withoutReport(output);
  return judge({ passed: 0, failed: 0, skipped: 0, failures: [], broken }, output);
}

/** A program of tests that came to its end has results of none of those that it had left, or of none at all. */
function whyStopped(errors: readonly string[], failures: readonly TestFailure[]): string | undefined {
  // Adapters tell each test that failed as an error of the run, too.
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

/** Its operators are `( ) & | = ! ~`; parameters of a test are no part of its name here. */
function escapeFilter(text: string): string {
  return text.replace(/\(.*$/s, '').replace(/[\\&|=!~()]/g, '\\$&');
}
