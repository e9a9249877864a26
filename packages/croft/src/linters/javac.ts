import { defineLinter, withFiles } from '../core/project-tools/linter.ts';
import { readJavac } from '../core/readers/lint/read-javac.ts';
import { linesOf } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';

export const javac = defineLinter({
  name: 'javac',
  scope: 'project',
  toArgv: (argv, files) => withFiles(argv, files),
  read(output) {
    const said = linesOf(`${output.stdout}\n${output.stderr}`);
    return toLintReport(output, {
      findings: readJavac(output.stderr, output.directory),
      // Notes only point to options that would print more.
      isClean: said.every((line) => line.startsWith('Note: ')),
      trouble: said.find((line) => line.startsWith('error: ')),
    });
  },
});
