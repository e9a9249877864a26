import { defineLinter, withFiles } from '../core/project-tools/linter.ts';
import { readPrintedFindings } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';

const summary = /^Build Summary: (\d{1,9})\/(\d{1,9}) steps succeeded/m;

export const zigBuild = defineLinter({
  name: 'zig-build',
  scope: 'build',
  toArgv: (argv) => withFiles(argv, []),
  read(output) {
    const said = `${output.stdout}\n${output.stderr}`;
    const findings = readPrintedFindings(said, output.directory);
    const [, succeeded, of] = summary.exec(said) ?? [];
    return toLintReport(output, {
      findings,
      // Zig prints nothing if all is well, unless a summary is requested.
      isClean: said.trim() === '' || (succeeded !== undefined && succeeded === of),
      exitCodes: findings.length > 0 ? [0, 1, 2] : [0],
    });
  },
});
