import { defineLinter, type Finding, withFiles, withOptions } from '../core/project-tools/linter.ts';
import type { Argv } from '../core/projects/profile.ts';
import { linesOf, toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const located = /^(\S[^(]*)\((\d{1,9}),(\d{1,9})\): (error|warning|message) (TS\d+): (.*)$/;
const upToDate = /^\d[^']* - Project '.*' is up to date\b/;
const general = /^error TS\d+: .*$/;

export const tsc = defineLinter({
  name: 'tsc',
  scope: 'project',
  // Runs without files, with which tsc would ignore the project's settings. `--diagnostics` prints how many files were
  // checked. A build skips files that are up to date, and `--verbose` makes it say so.
  toArgv: (argv) =>
    withOptions(plain(withFiles(argv, [])), '--diagnostics', ...(argv.some(isBuild) ? ['--verbose'] : [])),
  read(output) {
    const lines = linesOf(output.stdout);
    const files = Number(/^Files:\s+(\d{1,9})$/m.exec(output.stdout)?.[1] ?? 0);
    const isUpToDate = lines.some((line) => upToDate.test(line));
    return toLintReport(output, {
      findings: lines.flatMap((line) => toFinding(line, output.directory)),
      isClean: files > 0 || isUpToDate,
      isEmpty: files === 0 && !isUpToDate && /^Files:\s+0$/m.test(output.stdout),
      exitCodes: [0, 1, 2],
      trouble: lines.find((line) => general.test(line)),
    });
  },
});

/** Adds `--pretty false`: tsc does not accept `--pretty=false`, nor anything before `--build`. */
function plain(argv: Argv): Argv {
  const [program, ...rest] = argv;
  return rest.includes('--pretty')
    ? argv
    : [program, ...rest.toSpliced(rest.findIndex(isBuild) + 1, 0, '--pretty', 'false')];
}

function isBuild(argument: string): boolean {
  return argument === '-b' || argument === '--build';
}

function toFinding(text: string, directory: string): Finding[] {
  const [, file, line, column, level = '', rule = '', message = ''] = located.exec(text) ?? [];
  if (file === undefined) return [];
  const location = { file: toRelative(file, directory), line: Number(line), column: Number(column) };
  return [{ ...location, rule, message, severity: toSeverity(level) }];
}
