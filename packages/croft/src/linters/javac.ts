import { defineLinter, withFiles } from '../core/checks/linter.ts';
import { toLintReport } from '../core/readers/read-findings.ts';
import { readJavac } from '../core/readers/read-javac.ts';
import { linesOf } from '../core/readers/read-lines.ts';

export const javac = defineLinter({
  name: 'javac',
  scope: 'project',
  toArgv: (argv, files) => withFiles(argv, files),
  read(output) {
    const said = linesOf(`${output.stdout}\n${output.stderr}`);
    return toLintReport(output, {
      findings: readJavac(output.stderr, output.directory),
      // Notes are about options that would say more.
      isClean: said.every((line) => line.startsWith('Note: ')),
      trouble: said.find((line) => line.startsWith('error: ')),
    });
  },
});
