import { defineLinter, type Finding, withFiles, withOptions } from '../core/checks/linter.ts';
import type { Argv } from '../core/projects/profile.ts';
import { toLintReport } from '../core/readers/read-findings.ts';
import { linesOf, toSeverity } from '../core/readers/read-lines.ts';
import { toRelative } from '../core/readers/read-output.ts';

const located = /^(\S[^(]*)\((\d{1,9}),(\d{1,9})\): (error|warning|message) (TS\d+): (.*)$/;
const general = /^error TS\d+: .*$/;

export const tsc = defineLinter({
  name: 'tsc',
  scope: 'project',
  // With files it would leave the settings of the project aside. The numbers tell how many files it looked at.
  toArgv: (argv) => withOptions(plain(withFiles(argv, [])), '--diagnostics'),
  read(output) {
    const lines = linesOf(output.stdout);
    const files = Number(/^Files:\s+(\d{1,9})$/m.exec(output.stdout)?.[1] ?? 0);
    return toLintReport(output, {
      findings: lines.flatMap((line) => toFinding(line, output.directory)),
      isClean: files > 0,
      isEmpty: files === 0 && /^Files:\s+0$/m.test(output.stdout),
      exitCodes: [0, 1, 2],
      trouble: lines.find((line) => general.test(line)),
    });
  },
});

/** It takes no `--pretty=false`, and nothing before a `--build`. */
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
  const place = { file: toRelative(file, directory), line: Number(line), column: Number(column) };
  return [{ ...place, rule, message, severity: toSeverity(level) }];
}
