import { defineLinter, withFiles, withOptions } from '../core/project-tools/linter.ts';
import { linesOf, readLocatedMessage } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';

export const flake8 = defineLinter({
  name: 'flake8',
  scope: 'files',
  // The count distinguishes a run without findings from one that did not happen.
  toArgv: (argv, files) => withOptions(withFiles(argv, files, ['.']), '--count'),
  read(output) {
    const found = linesOf(output.stdout).flatMap((line) => toFinding(line, output.directory));
    const unread = found.find(({ rule }) => rule === 'E902');
    const said = `${output.stdout}\n${output.stderr}`.trim();
    return toLintReport(output, {
      findings: found.filter((finding) => finding !== unread),
      isClean: said === '0',
      trouble: unread && `${unread.file}: ${unread.message}`,
    });
  },
});

function toFinding(line: string, directory: string) {
  const location = readLocatedMessage(line, directory);
  const [, rule, message] = /^([A-Z]{1,3}\d{1,5}) (.*)$/.exec(location?.message ?? '') ?? [];
  if (!location || rule === undefined || message === undefined) return [];
  const severity = /^(F|E9)/.test(rule) ? ('error' as const) : ('warning' as const);
  return [{ ...location, rule, message, severity }];
}
