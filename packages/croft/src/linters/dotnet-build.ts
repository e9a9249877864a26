import { defineLinter, type Finding, withFiles } from '../core/project-tools/linter.ts';
import { linesOf, splitRule, toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { findMissingDotnetSdk } from '../core/readers/missing-dotnet-sdk.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const located = /^\s*(\S[^(]*)\((\d{1,9}),(\d{1,9})(?:,\d{1,9},\d{1,9})?\): (error|warning|info) ([A-Z]+\d+): (.*)$/;
const general = /^\s*(?:MSBUILD|\S[^(]*) : error ([A-Z]+\d+): .*$/;

export const dotnetBuild = defineLinter({
  name: 'dotnet-build',
  scope: 'build',
  toArgv: (argv) => withFiles(argv, []),
  read(output) {
    const lines = linesOf(`${output.stdout}\n${output.stderr}`);
    return toLintReport(output, {
      findings: lines.flatMap((line) => toFinding(line, output.directory)),
      isClean:
        lines.some((line) => /^Build succeeded\b/.test(line)) && lines.some((line) => /^\s+0 Error\(s\)$/.test(line)),
      trouble: lines.find((line) => general.test(line)) ?? findMissingDotnetSdk(output),
    });
  },
});

/** The message ends with its project in brackets. */
function toFinding(text: string, directory: string): Finding[] {
  const [, file, line, column, level = '', rule = '', said = ''] = located.exec(text) ?? [];
  if (file === undefined) return [];
  const location = { file: toRelative(file, directory), line: Number(line), column: Number(column) };
  return [{ ...location, rule, message: splitRule(said).message, severity: toSeverity(level) }];
}
