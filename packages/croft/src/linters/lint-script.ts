import { defineLinter, type Finding, withFiles } from '../core/project-tools/linter.ts';
import type { CheckOutput } from '../core/project-tools/test-runner.ts';
import { linesOf, readLocatedMessage, splitRule, toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

/** The format that eslint, stylelint and others print for people, below the name of the file. */
const stylish = /^\s+(\d{1,9}):(\d{1,9})\s+(?:[✖⚠×]\s+)?(error|warning)?\s*(\S.*?)(?:\s{2,}(\S+))?$/u;
const typescript = /^(\S[^(]*)\((\d{1,9}),(\d{1,9})\): (error|warning) (TS\d+): (.*)$/;

/**
 * A script of the project that lints or checks types, whatever it runs. Its exit code is its verdict; findings are read
 * from the formats that most tools print.
 */
export const lintScript = defineLinter({
  name: 'lint-script',
  scope: 'build',
  toArgv: (argv) => withFiles(argv, []),
  read(output) {
    const findings = readFindings(output);
    // Any exit code is accepted: only the author of the script knows what each means.
    return toLintReport(output, {
      findings,
      isClean: true,
      exitCodes: [output.exitCode ?? -1],
      trouble: troubleOf(output, findings),
    });
  },
});

/** Describes a failure that no finding explains. */
function troubleOf({ exitCode, stdout, stderr }: CheckOutput, findings: readonly Finding[]): string | undefined {
  if (exitCode === 0 || (exitCode !== null && findings.length > 0)) return undefined;
  return `exit ${exitCode ?? 'by a signal'}: ${linesOf(stderr.trim() || stdout).at(-1) ?? ''}`;
}

function readFindings({ stdout, stderr, directory }: CheckOutput): Finding[] {
  const findings: Finding[] = [];
  let file = '';
  for (const line of [...linesOf(stdout), ...linesOf(stderr)]) {
    const below = file === '' ? undefined : toBelow(line, file);
    const found = below ?? toLocated(line, directory);
    if (found) findings.push(found);
    else if (/^\S+\.\w+$/.test(line)) file = toRelative(line, directory);
  }
  return findings;
}

function toBelow(text: string, file: string): Finding | undefined {
  const [, line, column, level = 'error', message = '', rule = ''] = stylish.exec(text) ?? [];
  if (line === undefined) return undefined;
  return { file, line: Number(line), column: Number(column), rule, message, severity: toSeverity(level) };
}

function toLocated(text: string, directory: string): Finding | undefined {
  const [, path, line, column, level = '', rule = '', message = ''] = typescript.exec(text) ?? [];
  const location = { line: Number(line), column: Number(column), rule, message, severity: toSeverity(level) };
  if (path !== undefined) return { ...location, file: toRelative(path, directory) };
  const found = readLocatedMessage(text.trimStart(), directory);
  if (!found) return undefined;
  return { ...found, ...splitRule(found.message, '()'), severity: toSeverity(found.level ?? 'error') };
}
