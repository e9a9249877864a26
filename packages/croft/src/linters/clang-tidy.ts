import { defineLinter, withFiles, withoutOptions } from '../core/project-tools/linter.ts';
import { linesOf, readPrintedFindings } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';

/** Lines that clang-tidy prints when all is well. */
const chatter = /^(\d+ warnings? |Suppressed \d|Use -|\[\d+\/\d+\] Processing)/;

const fixing = ['fix', 'fix-errors', 'fix-notes'].flatMap((name) => [`-${name}`, `--${name}`]);

export const clangTidy = defineLinter({
  name: 'clang-tidy',
  scope: 'project',
  toArgv: (argv, files) => withoutOptions(withFiles(argv, files), fixing),
  read(output) {
    const findings = readPrintedFindings(output.stdout, output.directory).map((finding) => ({
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
