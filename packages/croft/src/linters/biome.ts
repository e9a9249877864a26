import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { answerIn, noAnswer, toLintReport } from '../core/readers/read-findings.ts';
import { toSeverity } from '../core/readers/read-lines.ts';
import { toRelative } from '../core/readers/read-output.ts';

const Place = z.object({ line: z.int(), column: z.int() });
const Diagnostic = z.object({
  severity: z.string(),
  message: z.string().optional(),
  description: z.string().optional(),
  category: z.string().nullish(),
  location: z
    .object({
      // Version 1 says it as an object, and where in the file as a number of bytes.
      path: z.union([z.string(), z.object({ file: z.string() })]).nullish(),
      start: Place.nullish(),
    })
    .nullish(),
});
const Report = z.object({
  summary: z.object({
    changed: z.int(),
    unchanged: z.int(),
    errors: z.int(),
    diagnosticsNotPrinted: z.int().default(0),
  }),
  diagnostics: z.array(Diagnostic),
});

export const biome = defineLinter({
  name: 'biome',
  scope: 'files',
  toArgv: (argv, files) =>
    withOptions(withFiles(argv, files, ['.']), '--reporter=json', '--max-diagnostics=none', '--no-errors-on-unmatched'),
  read(output) {
    const report = answerIn(Report, output.stdout);
    if (!report) return noAnswer(output);
    const { summary, diagnostics } = report;
    const checked = summary.changed + summary.unchanged;
    const failed = diagnostics.find(({ category }) => category?.startsWith('internalError/'));
    const findings = diagnostics.filter((one) => one !== failed).map((one) => toFinding(one, output.directory));
    const hidden = summary.diagnosticsNotPrinted > 0 ? `${summary.diagnosticsNotPrinted} more findings` : undefined;
    return toLintReport(output, {
      findings,
      isClean: checked > 0 && summary.errors === 0,
      isEmpty: checked === 0,
      trouble: failed?.message ?? hidden,
    });
  },
});

function toFinding({ severity, message, description, category, location }: z.output<typeof Diagnostic>, root: string) {
  const path = typeof location?.path === 'object' ? location.path?.file : location?.path;
  return {
    file: toRelative(path ?? '', root),
    line: location?.start?.line ?? 1,
    column: location?.start?.column ?? 1,
    rule: category ?? '',
    message: message ?? description ?? '',
    severity: toSeverity(severity),
  };
}
