import { defineLinter, type Finding, withFiles } from '../core/checks/linter.ts';
import type { Argv } from '../core/projects/profile.ts';
import { toLintReport } from '../core/readers/read-findings.ts';
import { readJavac } from '../core/readers/read-javac.ts';
import { linesOf } from '../core/readers/read-lines.ts';
import { toRelative } from '../core/readers/read-output.ts';

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

/** Or it would not say that it succeeded. */
function withoutQuiet([program, ...rest]: Argv): Argv {
  return [program, ...rest.filter((argument) => argument !== '-q' && argument !== '--quiet')];
}

/** What it says under `What went wrong`, unless the code is at fault. */
function reasonIn(said: string, findings: readonly Finding[]): string | undefined {
  if (findings.some(({ severity }) => severity === 'error')) return undefined;
  const lines = linesOf(said);
  const at = lines.indexOf('* What went wrong:');
  return at < 0 ? undefined : lines[at + 1];
}

function readKotlin(text: string, directory: string): Finding[] {
  const [, level, file, line, column, message = ''] = kotlin.exec(text) ?? [];
  if (file === undefined) return [];
  const place = { file: toRelative(file, directory), line: Number(line), column: Number(column) };
  return [{ ...place, rule: '', message, severity: level === 'e' ? 'error' : 'warning' }];
}
