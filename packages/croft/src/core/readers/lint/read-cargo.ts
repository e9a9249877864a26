import { posix } from 'node:path';
import { z } from 'zod';
import type { Finding, LintReport } from '../../project-tools/linter.ts';
import type { CheckOutput } from '../../project-tools/test-runner.ts';
import { readJson, toRelative } from '../reader-helpers.ts';
import { linesOf, toSeverity } from './read-printed-findings.ts';
import { toLintReport } from './to-lint-report.ts';

const Span = z.object({ file_name: z.string(), is_primary: z.boolean(), line_start: z.int(), column_start: z.int() });
const Message = z.object({
  reason: z.literal('compiler-message'),
  manifest_path: z.string().default(''),
  message: z.object({
    level: z.string(),
    message: z.string(),
    code: z.object({ code: z.string() }).nullish(),
    spans: z.array(Span.extend({ label: z.string().nullish() })),
  }),
});
const Finished = z.object({ reason: z.literal('build-finished'), success: z.boolean() });

/** Cargo's exit code for errors in the code, and for other failures too. */
const codeAtFault = 101;

/** Reads cargo's `--message-format=json`: one line per message, and a last one. */
export function readCargo(output: CheckOutput): LintReport {
  const lines = output.stdout.split('\n').filter((line) => line.startsWith('{"reason":"'));
  const messages = lines.filter(isFor('compiler-message')).flatMap((line) => readJson(Message, line) ?? []);
  const end = readJson(Finished, lines.findLast(isFor('build-finished')));
  const findings = messages.flatMap((message) => toFinding(message, output.directory));
  const isAtFault = output.exitCode === codeAtFault && end?.success === false && hasErrors(findings);
  return toLintReport(output, {
    findings,
    isClean: end?.success === true && messages.every(hasNoLocation),
    exitCodes: isAtFault ? [codeAtFault] : [0],
    trouble: output.exitCode === codeAtFault && !isAtFault ? firstError(output) : undefined,
  });
}

function isFor(reason: string): (line: string) => boolean {
  return (line) => line.startsWith(`{"reason":"${reason}"`);
}

function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'error');
}

/** Whether a message has no location: `aborting due to 2 previous errors`, `1 warning emitted`. */
function hasNoLocation({ message: { spans } }: z.output<typeof Message>): boolean {
  return spans.length === 0;
}

function firstError({ stderr }: CheckOutput): string | undefined {
  return linesOf(stderr).find((line) => line.startsWith('error'));
}

function toFinding({ manifest_path, message }: z.output<typeof Message>, directory: string): Finding[] {
  const span = message.spans.find(({ is_primary }) => is_primary);
  if (!span) return [];
  const file = toRelative(inPackage(span.file_name, posix.dirname(manifest_path)), directory);
  const label = span.label ? ` (${span.label})` : '';
  const location = { file, line: span.line_start, column: span.column_start };
  const said = { rule: message.code?.code ?? '', message: `${message.message}${label}` };
  return [{ ...location, ...said, severity: toSeverity(message.level) }];
}

/**
 * Resolves a file name, which is relative to the root of cargo's workspace: the package's directory or one above it.
 */
function inPackage(name: string, directory: string): string {
  if (name.startsWith('/') || !directory.startsWith('/')) return name;
  const names = directory.split('/');
  for (let depth = 1; depth <= names.length; depth++) {
    const path = posix.join('/', ...names.slice(0, depth), name);
    if (path.startsWith(`${directory}/`)) return path;
  }
  return name;
}
