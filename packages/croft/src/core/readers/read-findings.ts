import type { z } from 'zod';
import { stripControl } from '../../lib/text/strip-control.ts';
import type { Finding, LintReport } from '../checks/linter.ts';
import type { CheckOutput } from '../checks/test-runner.ts';
import { brokenLint, readJson, unreadableLint } from './read-output.ts';

/** Helpers of linters, which read what a program in a sandbox says: nothing of it can be relied on. */

export interface Reading {
  readonly findings: readonly Finding[];
  /** Whether it says, as this tool does, that it looked and found nothing. */
  readonly isClean: boolean;
  /** It says that there was nothing to look at. */
  readonly isEmpty?: boolean | undefined;
  /** The exits that end an answer which is complete. */
  readonly exitCodes?: readonly number[];
  /** What kept it from looking everywhere. */
  readonly trouble?: string | undefined;
}

/** Neither green nor a fault: the tool's own settings leave these files out. */
export const nothingChecked = 'no file was checked';

export function toLintReport(output: CheckOutput, reading: Reading): LintReport {
  const { isClean, isEmpty = false, exitCodes = [0, 1], trouble } = reading;
  const findings = tidy(reading.findings);
  if (trouble !== undefined) return { state: 'broken', findings, reason: shorten(oneLine(trouble), maxMessage) };
  if (!exitCodes.includes(output.exitCode ?? -1)) return { ...brokenLint(output), findings };
  if (findings.length > 0) return { state: 'findings', findings };
  if (isEmpty) return { state: 'broken', findings, reason: nothingChecked };
  if (output.exitCode !== 0) return brokenLint(output);
  return isClean ? { state: 'clean', findings } : unreadableLint('it did not say that all is well');
}

/** The answer is not there, or not in the form that was asked for. */
export function noAnswer(output: CheckOutput): LintReport {
  return output.exitCode === 0 ? unreadableLint('it did not answer in the form it was asked for') : brokenLint(output);
}

const maxMessage = 1000;
const maxName = 500;
const maxFindings = 10_000;

/** Short, plain, in one line each, and once: a build says some things for every target. */
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
    line: toPlace(line),
    column: toPlace(column),
    rule: shorten(oneLine(rule), maxName),
    message: shorten(oneLine(message), maxMessage),
    severity,
  };
}

/** Escapes in JSON bring in what was taken out of the text. */
function oneLine(text: string): string {
  return stripControl(text.slice(0, 2 * maxMessage))
    .replace(/[\n\t]/g, ' ')
    .trim();
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

function toPlace(number: number): number {
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}

/** The answer in JSON, also after lines that a launcher put before it. */
export function answerIn<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | undefined {
  const start = /^\s*[[{]/.test(text) ? 0 : text.search(/\n[[{]/);
  return start < 0 ? undefined : readJson(schema, text.slice(start));
}
