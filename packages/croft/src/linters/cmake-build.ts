import { defineLinter, withFiles } from '../core/project-tools/linter.ts';
import { linesOf, readPrintedFindings } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';

/** The last line of make and of ninja. */
const done =
  /^(\[100%\] Built target |ninja: no work to do\.$|make(\[\d+\])?: (Nothing to be done for |.* is up to date\.$))/;
const step = /^\[(\d{1,9})\/(\d{1,9})\] /;

export const cmakeBuild = defineLinter({
  name: 'cmake-build',
  scope: 'build',
  toArgv: (argv) => withFiles(argv, []),
  read(output) {
    const said = linesOf(output.stdout);
    const all = `${output.stdout}\n${output.stderr}`;
    const findings = readPrintedFindings(all, output.directory).map((finding) => ({
      ...finding,
      // Ninja compiles in the build directory.
      file: finding.file.replace(/^(\.\.\/)+/, ''),
    }));
    const hasErrors = findings.some(({ severity }) => severity === 'error');
    return toLintReport(output, {
      findings,
      isClean: said.some((line) => done.test(line)) || isLastStep(said.findLast((line) => step.test(line)) ?? ''),
      exitCodes: hasErrors ? [1, 2] : [0],
    });
  },
});

function isLastStep(line: string): boolean {
  const [, at, of] = step.exec(line) ?? [];
  return at !== undefined && at === of;
}
