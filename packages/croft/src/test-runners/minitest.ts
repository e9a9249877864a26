import { withFiles } from '../core/project-tools/linter.ts';
import {
  type CheckOutput,
  defineTestRunner,
  type TestFailure,
  type TestRequest,
} from '../core/project-tools/test-runner.ts';
import type { Argv } from '../core/projects/profile.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';
import {
  escapePattern,
  exactNamesPattern,
  filesOfFailures,
  missingTestReport,
  selectableNames,
  toTestReport,
} from '../core/readers/tests/to-test-report.ts';

export const minitest = defineTestRunner({
  name: 'minitest',
  cannotPick: (argv) => (isRake(argv) || argv.includes('$FILES') ? [] : ['files']),
  toArgv(argv, request) {
    const files = request.again ? filesOfFailures(request.again) : request.files;
    const pattern = toPattern(request);
    if (!isRake(argv))
      return [...withFiles(endOptions(argv), files), ...(pattern === undefined ? [] : [`--name=${pattern}`])];
    return [
      ...withFiles(argv, []),
      // Rake takes one file pattern; several files are put in braces.
      ...(files.length === 0 ? [] : [`TEST=${files.length === 1 ? files[0] : `{${files.join(',')}}`}`]),
      ...(pattern === undefined ? [] : [`TESTOPTS=--name='${pattern.replaceAll("'", '.')}'`]),
    ];
  },
  read(output) {
    const results = [...output.stdout.matchAll(summary)];
    if (results.length === 0) return missingTestReport(output);
    const sum = (group: number) => results.reduce((total, result) => total + Number(result[group]), 0);
    const failures = readFailures(output);
    const failed = Math.max(sum(2) + sum(3), failures.length);
    return toTestReport({ passed: Math.max(0, sum(1) - failed - sum(4)), failed, skipped: sum(4), failures }, output);
  },
});

const isRake = (argv: Argv) => argv.some((argument) => argument.endsWith('rake'));

const summary =
  /^(\d{1,9}) (?:runs|tests), \d{1,9} assertions, (\d{1,9}) failures, (\d{1,9}) errors(?:, \d{1,9} pendings, \d{1,9} omissions)?(?:, (\d{1,9}) skips)?/gm;

/** Adds `--` after a script given with `-e`: without it, Ruby takes the arguments for its own. */
function endOptions(argv: Argv): Argv {
  const end = argv.indexOf('-e') + 2;
  if (end < 2 || argv[end] === '--') return argv;
  const [program, ...rest] = argv;
  return [program, ...rest.slice(0, end - 1), '--', ...rest.slice(end - 1)];
}

function toPattern({ name, again }: TestRequest): string | undefined {
  const methods = selectableNames(again);
  if (methods) return `/${exactNamesPattern(methods)}/`;
  return name === undefined || again ? undefined : `/${escapePattern(name.replaceAll(' ', '_'))}/`;
}

const heading = /^ {1,8}\d{1,6}\) (?:Failure|Error):\n(.{1,1000}):\n/gm;

function readFailures({ stdout, directory }: CheckOutput): TestFailure[] {
  const found = [...stdout.matchAll(heading)];
  return found.map((match, index) => {
    const [whole, title = ''] = match;
    const said =
      stdout.slice(match.index + whole.length, found[index + 1]?.index).split(/\n\n|^\d{1,9} (?:runs|tests), /m)[0] ??
      '';
    const at = title.lastIndexOf(' [');
    const name = at < 0 ? title : title.slice(0, at);
    const location =
      at < 0
        ? said.match(/^ {4}([^\s:]{1,500}):(\d{1,9})/m)
        : title.slice(at).match(/^ \[([^:\]]{1,500}):(\d{1,9})\]$/);
    const [, path, line] = location ?? [];
    return {
      name,
      ...(path !== undefined && { file: toRelative(path, directory), line: Number(line) }),
      message: said.trim(),
      id: name,
    };
  });
}
