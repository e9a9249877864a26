import { z } from 'zod';
import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import { toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Position = z.object({ line: z.int(), column: z.int() });
const Diagnostic = z.object({
  severity: z.string(),
  message: z.string().optional(),
  description: z.string().optional(),
  category: z.string().nullish(),
  location: z
    .object({
      // Version 1 reports the path as an object, and the position as a byte offset.
      path: z.union([z.string(), z.object({ file: z.string() })]).nullish(),
      start: Position.nullish(),
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

const writing = ['--write', '--fix', '--apply', '--apply-unsafe', '--apply-suggested', '--unsafe'];

export const biome = defineLinter({
  name: 'biome',
  scope: 'files',
  toArgv: (argv, files) =>
    withOptions(
      withoutOptions(withFiles(argv, files, ['.']), writing),
      ...['--reporter=json', '--max-diagnostics=none', '--no-errors-on-unmatched'],
    ),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
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
