import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { toLintReport } from '../core/readers/read-findings.ts';
import { linesOf, readPlace } from '../core/readers/read-lines.ts';

export const flake8 = defineLinter({
  name: 'flake8',
  scope: 'files',
  // The count tells a run without findings from one that did not happen.
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
  const place = readPlace(line, directory);
  const [, rule, message] = /^([A-Z]{1,3}\d{1,5}) (.*)$/.exec(place?.message ?? '') ?? [];
  if (!place || rule === undefined || message === undefined) return [];
  const severity = /^(F|E9)/.test(rule) ? ('error' as const) : ('warning' as const);
  return [{ ...place, rule, message, severity }];
}
