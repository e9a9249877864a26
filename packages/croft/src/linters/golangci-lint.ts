import { z } from 'zod';
import { defineLinter, type Finding, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import type { CheckOutput } from '../core/project-tools/test-runner.ts';
import { toGoPackages } from '../core/readers/lint/files-to-go-packages.ts';
import { linesOf, readLocatedMessage, splitRule } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { readJson, toRelative } from '../core/readers/reader-helpers.ts';

const Issue = z.object({
  FromLinter: z.string(),
  Text: z.string(),
  Severity: z.string().default(''),
  Pos: z.object({ Filename: z.string(), Line: z.int(), Column: z.int().default(1) }),
});
const Report = z.object({ Issues: z.array(Issue).nullable() });

export const golangciLint = defineLinter({
  name: 'golangci-lint',
  scope: 'build',
  // Versions 1 and 2 have no common option for JSON, so the output format stays as the command sets it. `--fix=false`
  // overrides `issues.fix` in the settings, which would change files.
  toArgv: (argv, files) =>
    withOptions(withoutOptions(withFiles(argv, toGoPackages(files), ['./...']), ['--fix']), '--fix=false'),
  read(output) {
    // Version 2 prints a count of issues below the JSON.
    const json = output.stdout.split('\n').find((line) => line.startsWith('{"'));
    const report = json === undefined ? undefined : readJson(Report, json);
    return report ? readReport(report, output) : readText(output);
  },
});

function readReport({ Issues }: z.output<typeof Report>, output: CheckOutput) {
  const findings = (Issues ?? []).map(({ FromLinter, Text, Severity, Pos }) =>
    toFinding(
      { file: toRelative(Pos.Filename, output.directory), line: Pos.Line, column: Pos.Column },
      { message: Text, rule: FromLinter, severity: Severity },
    ),
  );
  return toLintReport(output, { findings, isClean: true });
}

function readText(output: CheckOutput) {
  const findings = linesOf(output.stdout).flatMap((line) => {
    const location = readLocatedMessage(line, output.directory);
    return location
      ? [toFinding(location, { ...splitRule(location.message, '()'), severity: location.level ?? '' })]
      : [];
  });
  const isEmpty = output.stderr.includes('no go files to analyze');
  return toLintReport(output, { findings, isClean: isClean(output), isEmpty, exitCodes: isEmpty ? [5] : [0, 1] });
}

/** Version 2 reports zero issues; version 1 prints nothing, except warnings about its settings. */
function isClean({ stdout, stderr }: CheckOutput): boolean {
  const said = stdout.trim();
  const complaints = linesOf(stderr).filter((line) => !line.startsWith('level=warning '));
  return said === '0 issues.' || (said === '' && complaints.length === 0);
}

type IssueText = { readonly message: string; readonly rule: string; readonly severity: string };
type Position = Pick<Finding, 'file' | 'line' | 'column'>;

function toFinding({ file, line, column }: Position, { message, rule, severity }: IssueText): Finding {
  const isError = severity === 'error' || rule === 'typecheck';
  return { file, line, column, message, rule, severity: isError ? 'error' : 'warning' };
}
