import type { z } from 'zod';
import { stripControlSequences } from '../../../lib/text/strip-control-sequences.ts';
import type { Finding, LintReport } from '../../project-tools/linter.ts';
import type { CheckOutput } from '../../project-tools/test-runner.ts';
import { brokenLint, readJson, unreadableLint } from '../reader-helpers.ts';

/** Builds lint reports from the output of a program in a sandbox: nothing in it can be trusted. */

interface LintReading {
  readonly findings: readonly Finding[];
  /** Whether the tool printed that it checked the files and found nothing. */
  readonly isClean: boolean;
  /** The tool said that there was nothing to check. */
  readonly isEmpty?: boolean | undefined;
  /** Exit codes of a complete answer. */
  readonly exitCodes?: readonly number[];
  /** The reason why the tool did not check everything. */
  readonly trouble?: string | undefined;
}

/** Reason of a run that is neither green nor at fault: the tool's own settings exclude the files. */
export const nothingChecked = 'no file was checked';

export function toLintReport(output: CheckOutput, reading: LintReading): LintReport {
  const { isClean, isEmpty = false, exitCodes = [0, 1], trouble } = reading;
  const findings = tidy(reading.findings);
  if (trouble !== undefined) return { state: 'broken', findings, reason: shorten(oneLine(trouble), maxMessage) };
  if (!exitCodes.includes(output.exitCode ?? -1)) return { ...brokenLint(output), findings };
  if (findings.length > 0) return { state: 'findings', findings };
  if (isEmpty) return { state: 'broken', findings, reason: nothingChecked };
  if (output.exitCode !== 0) return brokenLint(output);
  return isClean ? { state: 'clean', findings } : unreadableLint('it did not confirm that it found nothing');
}

/** Report for an answer that is missing or not in the requested form. */
export function noAnswerReport(output: CheckOutput): LintReport {
  return output.exitCode === 0 ? unreadableLint('it did not answer in the form it was asked for') : brokenLint(output);
}

const maxMessage = 1000;
const maxName = 500;
const maxFindings = 10_000;

/** Makes findings short, plain and unique: a build repeats some for every target. */
function tidy(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, Finding>();
  for (const finding of findings) {
    const clean = toPlain(finding);
    seen.set(JSON.stringify([clean.file, clean.line, clean.column, clean.rule, clean.message]), clean);
    if (seen.size >= maxFindings) break;
  }
  return [...seen.values()];
}

function toPlain({ file, line, column, rule, message, severity }: Finding): Finding {
  return {
    file: shorten(oneLine(file), maxName),
    line: toPosition(line),
    column: toPosition(column),
    rule: shorten(oneLine(rule), maxName),
    message: shorten(oneLine(message), maxMessage),
    severity,
  };
}

/** Strips control characters again, because escapes in JSON can bring them back. */
function oneLine(text: string): string {
  return stripControlSequences(text.slice(0, 2 * maxMessage))
    .replace(/[\n\t]/g, ' ')
    .trim();
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

function toPosition(number: number): number {
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}

/** Parses the JSON answer, also after lines that a launcher printed first. */
export function parseAnswer<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | undefined {
  const start = /^\s*[[{]/.test(text) ? 0 : text.search(/\n[[{]/);
  return start < 0 ? undefined : readJson(schema, text.slice(start));
}
