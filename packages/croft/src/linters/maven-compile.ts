import { defineLinter, type Finding, withFiles } from '../core/checks/linter.ts';
import type { Argv } from '../core/projects/profile.ts';
import { toLintReport } from '../core/readers/read-findings.ts';
import { linesOf } from '../core/readers/read-lines.ts';
import { toRelative } from '../core/readers/read-output.ts';

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

/** Or it would not say that it succeeded. */
function withoutQuiet([program, ...rest]: Argv): Argv {
  return [program, ...rest.filter((argument) => argument !== '-q' && argument !== '--quiet')];
}

function toFinding(text: string, directory: string): Finding[] {
  const [, level, file, line, column, rule = '', message = ''] = java.exec(text) ?? kotlin.exec(text) ?? [];
  if (file === undefined) return [];
  const place = { file: toRelative(file, directory), line: Number(line), column: Number(column) };
  return [{ ...place, rule, message, severity: level === 'ERROR' ? 'error' : 'warning' }];
}
