import type { Finding } from '../checks/linter.ts';
import { linesOf, readPlace, toSeverity } from './read-lines.ts';

/** How far below its message a compiler shows where in the line it is. */
const caretWithin = 4;

/** `A.java:4: error: …`, followed by the line, a caret below the place in it, and details. */
export function readJavac(text: string, directory: string): Finding[] {
  const lines = linesOf(text);
  return lines.flatMap((line, index) => {
    const found = readPlace(line, directory);
    if (found?.level === undefined) return [];
    const below = lines.slice(index + 1, index + 1 + caretWithin);
    const end = below.findIndex((next) => readPlace(next, directory)?.level !== undefined);
    const own = end < 0 ? below : below.slice(0, end);
    const [, rule = '', message = found.message] = /^\[([\w-]+)\] (.*)$/.exec(found.message) ?? [];
    const symbol = own.find((next) => next.startsWith('  symbol:'))?.replace(/\s+/g, ' ') ?? '';
    const place = { file: found.file, line: found.line, column: columnOf(own) ?? found.column };
    return [{ ...place, rule, message: `${message}${symbol}`, severity: toSeverity(found.level) }];
  });
}

function columnOf(lines: readonly string[]): number | undefined {
  const caret = lines.find((line) => /^\s*\^$/.test(line));
  return caret === undefined ? undefined : caret.length;
}
