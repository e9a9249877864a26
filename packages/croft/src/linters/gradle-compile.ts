import { defineLinter, type Finding, withFiles } from '../core/project-tools/linter.ts';
import type { Argv } from '../core/projects/profile.ts';
import { readJavac } from '../core/readers/lint/read-javac.ts';
import { linesOf } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const kotlin = /^(e|w): (?:file:\/\/)?(\/[^:]+):(?: \(|)(\d{1,9})(?:, |:)(\d{1,9})\)?:?\s(.*)$/;

export const gradleCompile = defineLinter({
  name: 'gradle-compile',
  scope: 'build',
  toArgv: (argv) => withoutQuiet(withFiles(argv, [])),
  read(output) {
    const said = `${output.stdout}\n${output.stderr}`;
    const findings = [
      ...readJavac(said, output.directory),
      ...linesOf(said).flatMap((line) => readKotlin(line, output.directory)),
    ];
    return toLintReport(output, {
      findings,
      isClean: /^BUILD SUCCESSFUL in /m.test(output.stdout),
      trouble: output.exitCode === 1 ? reasonIn(said, findings) : undefined,
    });
  },
});

/** Removes `--quiet`, which hides the success line. */
function withoutQuiet([program, ...rest]: Argv): Argv {
  return [program, ...rest.filter((argument) => argument !== '-q' && argument !== '--quiet')];
}

/** Returns the text below `What went wrong`, unless an error in the code is the cause. */
function reasonIn(said: string, findings: readonly Finding[]): string | undefined {
  if (findings.some(({ severity }) => severity === 'error')) return undefined;
  const lines = linesOf(said);
  const at = lines.indexOf('* What went wrong:');
  return at < 0 ? undefined : lines[at + 1];
}

function readKotlin(text: string, directory: string): Finding[] {
  const [, level, file, line, column, message = ''] = kotlin.exec(text) ?? [];
  if (file === undefined) return [];
  const location = { file: toRelative(file, directory), line: Number(line), column: Number(column) };
  return [{ ...location, rule: '', message, severity: level === 'e' ? 'error' : 'warning' }];
}
