import type { Finding } from '../../project-tools/linter.ts';
import { toRelative } from '../reader-helpers.ts';

/** Reads linters whose output is lines such as `file:line:column: error: message [rule]`. */

const maxLine = 4000;

/** Splits a text into lines that are not empty. */
export function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : line.slice(0, maxLine).trimEnd() || []));
}

const severities: Readonly<Record<string, Finding['severity']>> = {
  error: 'error',
  fatal: 'error',
  'fatal error': 'error',
  warning: 'warning',
  note: 'info',
  info: 'info',
  information: 'info',
  remark: 'info',
  hint: 'info',
};

/** Converts the word of a tool to a severity; an unknown word is a warning. */
export function toSeverity(word: string): Finding['severity'] {
  return severities[word.toLowerCase()] ?? 'warning';
}

const locatedLine = /^(?:vet: )?(\S[^:]*):(\d{1,9})(?::(\d{1,9}))?:\s?(.*)$/;
const leveled = /^(fatal error|error|warning|note|info|remark)(?:\[[^\]]*\])?:\s*(.*)$/;

interface LocatedMessage {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Absent if the line has no level. */
  readonly level?: string | undefined;
}

/** Reads `file:line:column: message`, the form of most compilers. */
export function readLocatedMessage(line: string, directory: string): LocatedMessage | undefined {
  const [, file, row, column = '1', said = ''] = locatedLine.exec(line) ?? [];
  if (file === undefined || !/[./]/.test(file)) return undefined;
  const [, level, message = said] = leveled.exec(said) ?? [];
  return { file: toRelative(file, directory), line: Number(row), column: Number(column), message, level };
}

/** Splits `message [rule]`, or the same with other brackets. */
export function splitRule(message: string, [open, close] = '[]'): { message: string; rule: string } {
  const start = message.lastIndexOf(` ${open}`);
  if (start < 0 || !message.endsWith(close ?? '')) return { message, rule: '' };
  return { message: message.slice(0, start).trimEnd(), rule: message.slice(start + 2, -1) };
}

/**
 * Reads diagnostics of C compilers, and of tools that print the same form. Notes belong to the message above them and
 * are dropped.
 */
export function readPrintedFindings(text: string, directory: string): Finding[] {
  return linesOf(text).flatMap((line) => {
    const found = readLocatedMessage(line, directory);
    if (found?.level === undefined || found.level === 'note') return [];
    const { message, rule } = splitRule(found.message);
    return [{ ...found, message, rule, severity: toSeverity(found.level) }];
  });
}
