import type { Finding } from '../../project-tools/linter.ts';
import { linesOf, readLocatedMessage, toSeverity } from './read-printed-findings.ts';

/** How many lines below its message a compiler marks the column. */
const caretWithin = 4;

/** Reads `A.java:4: error: …`, followed by the source line, a caret below the column, and details. */
export function readJavac(text: string, directory: string): Finding[] {
  const lines = linesOf(text);
  return lines.flatMap((line, index) => {
    const found = readLocatedMessage(line, directory);
    if (found?.level === undefined) return [];
    const below = lines.slice(index + 1, index + 1 + caretWithin);
    const end = below.findIndex((next) => readLocatedMessage(next, directory)?.level !== undefined);
    const own = end < 0 ? below : below.slice(0, end);
    const [, rule = '', message = found.message] = /^\[([\w-]+)\] (.*)$/.exec(found.message) ?? [];
    const symbol = own.find((next) => next.startsWith('  symbol:'))?.replace(/\s+/g, ' ') ?? '';
    const location = { file: found.file, line: found.line, column: columnOf(own) ?? found.column };
    return [{ ...location, rule, message: `${message}${symbol}`, severity: toSeverity(found.level) }];
  });
}

function columnOf(lines: readonly string[]): number | undefined {
  const caret = lines.find((line) => /^\s*\^$/.test(line));
  return caret === undefined ? undefined : caret.length;
}
