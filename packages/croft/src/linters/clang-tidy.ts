import { defineLinter, withFiles } from '../core/checks/linter.ts';
import { toLintReport } from '../core/readers/read-findings.ts';
import { linesOf, readDiagnostics } from '../core/readers/read-lines.ts';

/** What it says of itself while all is well. */
const chatter = /^(\d+ warnings? |Suppressed \d|Use -|\[\d+\/\d+\] Processing)/;

export const clangTidy = defineLinter({
  name: 'clang-tidy',
  scope: 'project',
  toArgv: (argv, files) => withFiles(argv, files),
  read(output) {
    const findings = readDiagnostics(output.stdout, output.directory).map((finding) => ({
      ...finding,
      rule: finding.rule.replace(/,-warnings-as-errors$/, ''),
    }));
    const complaints = linesOf(output.stderr);
    const said = linesOf(output.stdout);
    return toLintReport(output, {
      findings,
      isClean: said.length === 0 && complaints.every((line) => chatter.test(line)),
      trouble:
        said.find((line) => line.startsWith('error: ')) ??
        complaints.find((line) => line.startsWith('Error while trying to load a compilation database')),
    });
  },
});
