import { defineLinter, withFiles, withoutOptions } from '../core/project-tools/linter.ts';
import { linesOf, readLocatedMessage, splitRule } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';

/** `standard` prints `  /src/a.js:1:5: message (rule)`, and nothing if all is well. */
export const standard = defineLinter({
  name: 'standard',
  scope: 'files',
  toArgv: (argv, files) => withoutOptions(withFiles(argv, files), ['--fix']),
  read(output) {
    const findings = linesOf(output.stdout).flatMap((line) => {
      const located = readLocatedMessage(line.trimStart(), output.directory);
      return located ? [{ ...located, ...splitRule(located.message, '()'), severity: 'error' as const }] : [];
    });
    return toLintReport(output, { findings, isClean: `${output.stdout}${output.stderr}`.trim() === '' });
  },
});
