import { defineLinter, withFiles } from '../core/checks/linter.ts';
import { toLintReport } from '../core/readers/read-findings.ts';
import { readDiagnostics } from '../core/readers/read-lines.ts';

const summary = /^Build Summary: (\d{1,9})\/(\d{1,9}) steps succeeded/m;

export const zigBuild = defineLinter({
  name: 'zig-build',
  scope: 'build',
  toArgv: (argv) => withFiles(argv, []),
  read(output) {
    const said = `${output.stdout}\n${output.stderr}`;
    const findings = readDiagnostics(said, output.directory);
    const [, succeeded, of] = summary.exec(said) ?? [];
    return toLintReport(output, {
      findings,
      // It says nothing when all is well, unless it is asked for a summary.
      isClean: said.trim() === '' || (succeeded !== undefined && succeeded === of),
      exitCodes: findings.length > 0 ? [0, 1, 2] : [0],
    });
  },
});
