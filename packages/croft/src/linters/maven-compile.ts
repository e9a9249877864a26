import { defineLinter, type Finding, withFiles } from '../core/project-tools/linter.ts';
import type { Argv } from '../core/projects/profile.ts';
import { linesOf } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const java = /^\[(ERROR|WARNING)\] (?:file:\/\/)?(\/[^:]+):\[(\d{1,9}),(\d{1,9})\] (?:\[([\w-]+)\] )?(.*)$/;
const kotlin = /^\[(ERROR|WARNING)\] (?:file:\/\/)?(\/[^:]+\.kts?):(?: \(|)(\d{1,9})(?:, |:)(\d{1,9})\)?()\s(.*)$/;

export const mavenCompile = defineLinter({
  name: 'maven-compile',
  scope: 'build',
  toArgv: (argv) => withoutQuiet(withFiles(argv, [])),
  read(output) {
    const lines = linesOf(output.stdout);
    const findings = lines.flatMap((line) => toFinding(line, output.directory));
    const failure = lines.find((line) => line.startsWith('[ERROR] '));
    const isOfCode = findings.some(({ severity }) => severity === 'error');
    return toLintReport(output, {
      findings,
      isClean: lines.includes('[INFO] BUILD SUCCESS'),
      trouble: failure !== undefined && !isOfCode ? failure : undefined,
    });
  },
});

/** Removes `--quiet`, which hides the success line. */
function withoutQuiet([program, ...rest]: Argv): Argv {
  return [program, ...rest.filter((argument) => argument !== '-q' && argument !== '--quiet')];
}

function toFinding(text: string, directory: string): Finding[] {
  const [, level, file, line, column, rule = '', message = ''] = java.exec(text) ?? kotlin.exec(text) ?? [];
  if (file === undefined) return [];
  const location = { file: toRelative(file, directory), line: Number(line), column: Number(column) };
  return [{ ...location, rule, message, severity: level === 'ERROR' ? 'error' : 'warning' }];
}
