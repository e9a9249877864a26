import { z } from 'zod';
import { defineLinter, type Finding, withFiles } from '../core/checks/linter.ts';
import type { CheckOutput } from '../core/checks/test-runner.ts';
import { toGoPackages } from '../core/readers/go-packages.ts';
import { toLintReport } from '../core/readers/read-findings.ts';
import { linesOf, readPlace, splitRule } from '../core/readers/read-lines.ts';
import { readJson, toRelative } from '../core/readers/read-output.ts';

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
  // Versions 1 and 2 have no option in common for JSON, so it is left to answer as it does.
  toArgv: (argv, files) => withFiles(argv, toGoPackages(files), ['./...']),
  read(output) {
    // Version 2 counts the issues below it.
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
    const place = readPlace(line, output.directory);
    return place ? [toFinding(place, { ...splitRule(place.message, '()'), severity: place.level ?? '' })] : [];
  });
  const isEmpty = output.stderr.includes('no go files to analyze');
  return toLintReport(output, { findings, isClean: isClean(output), isEmpty, exitCodes: isEmpty ? [5] : [0, 1] });
}

/** Version 2 says so; version 1 says nothing at all, but for warnings about its settings. */
function isClean({ stdout, stderr }: CheckOutput): boolean {
  const said = stdout.trim();
  const complaints = linesOf(stderr).filter((line) => !line.startsWith('level=warning '));
  return said === '0 issues.' || (said === '' && complaints.length === 0);
}

type Said = { readonly message: string; readonly rule: string; readonly severity: string };
type Spot = Pick<Finding, 'file' | 'line' | 'column'>;

function toFinding({ file, line, column }: Spot, { message, rule, severity }: Said): Finding {
  const isError = severity === 'error' || rule === 'typecheck';
  return { file, line, column, message, rule, severity: isError ? 'error' : 'warning' };
}
