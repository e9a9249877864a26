import type { Finding } from '../checks/linter.ts';
import { toRelative } from './read-output.ts';

/** Helpers of linters whose answers are lines: `file:line:column: error: message [rule]`, and the like. */

const maxLine = 4000;

/** Those that say something. */
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

/** By the word for it; one that is not known is a warning. */
export function toSeverity(word: string): Finding['severity'] {
  return severities[word.toLowerCase()] ?? 'warning';
}

const place = /^(?:vet: )?(\S[^:]*):(\d{1,9})(?::(\d{1,9}))?:\s?(.*)$/;
const leveled = /^(fatal error|error|warning|note|info|remark)(?:\[[^\]]*\])?:\s*(.*)$/;

export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Nothing where the line does not say it. */
  readonly level?: string | undefined;
}

/** `file:line:column: message`, as compilers have said it since there are any. */
export function readPlace(line: string, directory: string): Place | undefined {
  const [, file, row, column = '1', said = ''] = place.exec(line) ?? [];
  if (file === undefined || !/[./]/.test(file)) return undefined;
  const [, level, message = said] = leveled.exec(said) ?? [];
  return { file: toRelative(file, directory), line: Number(row), column: Number(column), message, level };
}

/** `message [rule]`, or with other brackets. */
export function splitRule(message: string, [open, close] = '[]'): { message: string; rule: string } {
  const start = message.lastIndexOf(` ${open}`);
  if (start < 0 || !message.endsWith(close ?? '')) return { message, rule: '' };
  return { message: message.slice(0, start).trimEnd(), rule: message.slice(start + 2, -1) };
}

/** What compilers of the C family say, and others that say it so. Notes belong to what is above them. */
export function readDiagnostics(text: string, directory: string): Finding[] {
  return linesOf(text).flatMap((line) => {
    const found = readPlace(line, directory);
    if (found?.level === undefined || found.level === 'note') return [];
    const { message, rule } = splitRule(found.message);
    return [{ ...found, message, rule, severity: toSeverity(found.level) }];
  });
}
