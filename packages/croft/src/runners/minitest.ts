import { withFiles } from '../core/checks/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure, type TestRequest } from '../core/checks/test-runner.ts';
import type { Argv } from '../core/projects/profile.ts';
import { toRelative } from '../core/readers/read-output.ts';
import { anyOf, escapePattern, filesOf, judge, namesOf, withoutReport } from '../core/readers/read-tests.ts';

export const minitest = defineTestRunner({
  name: 'minitest',
  cannotPick: (argv) => (isRake(argv) || argv.includes('$FILES') ? [] : ['files']),
  toArgv(argv, request) {
    const files = request.again ? filesOf(request.again) : request.files;
    const pattern = toPattern(request);
    if (!isRake(argv))
      return [...withFiles(endOptions(argv), files), ...(pattern === undefined ? [] : [`--name=${pattern}`])];
    return [
      ...withFiles(argv, []),
      // Rake takes one pattern of files; several have braces.
      ...(files.length === 0 ? [] : [`TEST=${files.length === 1 ? files[0] : `{${files.join(',')}}`}`]),
      ...(pattern === undefined ? [] : [`TESTOPTS=--name='${pattern.replaceAll("'", '.')}'`]),
    ];
  },
  read(output) {
    const results = [...output.stdout.matchAll(summary)];
    if (results.length === 0) return withoutReport(output);
    const sum = (group: number) => results.reduce((total, result) => total + Number(result[group]), 0);
    const failures = readFailures(output);
    const failed = Math.max(sum(2) + sum(3), failures.length);
    return judge({ passed: Math.max(0, sum(1) - failed - sum(4)), failed, skipped: sum(4), failures }, output);
  },
});

const isRake = (argv: Argv) => argv.some((argument) => argument.endsWith('rake'));

const summary =
  /^(\d{1,9}) (?:runs|tests), \d{1,9} assertions, (\d{1,9}) failures, (\d{1,9}) errors(?:, \d{1,9} pendings, \d{1,9} omissions)?(?:, (\d{1,9}) skips)?/gm;

/** What comes after a script in the command line is for Ruby itself, unless it is told otherwise. */
function endOptions(argv: Argv): Argv {
  const end = argv.indexOf('-e') + 2;
  if (end < 2 || argv[end] === '--') return argv;
  const [program, ...rest] = argv;
  return [program, ...rest.slice(0, end - 1), '--', ...rest.slice(end - 1)];
}

function toPattern({ name, again }: TestRequest): string | undefined {
  const methods = namesOf(again);
  if (methods) return `/${anyOf(methods)}/`;
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
    const place =
      at < 0
        ? said.match(/^ {4}([^\s:]{1,500}):(\d{1,9})/m)
        : title.slice(at).match(/^ \[([^:\]]{1,500}):(\d{1,9})\]$/);
    const [, path, line] = place ?? [];
    return {
      name,
      ...(path !== undefined && { file: toRelative(path, directory), line: Number(line) }),
      message: said.trim(),
      id: name,
    };
  });
}
