import { AppError } from '@croft/protocol';
import type { Position } from '../ports/protocol-schemas.ts';
import type { SourceText } from '../ports/source-text.ts';

/** A name in a source file, and where it begins. */
interface Identifier {
  readonly word: string;
  readonly position: Position;
}

const pattern = /[\p{L}\p{Nl}_$][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$\u200c\u200d]*/gu;
const maxListed = 20;

/** Whether a text can be a name in most languages. */
export function isIdentifier(text: string): boolean {
  return text.match(pattern)?.[0] === text;
}

function identifiersIn(source: SourceText, line: number): Identifier[] {
  const text = source.lines[line - 1] ?? '';
  return Array.from(text.matchAll(pattern), ({ 0: word, index }) => ({
    word,
    position: { line: line - 1, character: index },
  }));
}

/**
 * Finds the name at a position that counts from 1, or one column beside it. Throws `E_NO_SYMBOL` with the names of the
 * line.
 */
export function identifierAt(source: SourceText, path: string, line: number, col: number): Identifier {
  mustHaveLine(source, path, line);
  const all = identifiersIn(source, line);
  const at = (character: number) =>
    all.find(({ word, position }) => position.character <= character && character < position.character + word.length);
  const found = at(col - 1) ?? at(col - 2) ?? at(col);
  if (found) return found;
  throw noName(`there is no name at ${path}:${line}:${col}`, all);
}

/** Finds the `nth` occurrence of a word on a line, from 1. Throws `E_NO_SYMBOL` with the names of the line. */
export function identifierOnLine(source: SourceText, path: string, line: number, word: string, nth = 1): Identifier {
  mustHaveLine(source, path, line);
  const all = identifiersIn(source, line);
  const found = all.filter((identifier) => identifier.word === word)[nth - 1];
  if (found) return found;
  throw noName(`${word}${nth > 1 ? `#${nth}` : ''} is not on line ${line} of ${path}`, all);
}

function noName(what: string, all: readonly Identifier[]): AppError {
  const names = all.slice(0, maxListed).map(({ word, position }) => `${word} (col ${position.character + 1})`);
  const listed = names.length === 0 ? 'the line has no names' : `names on the line: ${names.join(', ')}`;
  return new AppError('E_NO_SYMBOL', `${what}; ${listed}`);
}

function mustHaveLine({ lines }: SourceText, path: string, line: number): void {
  if (line <= lines.length) return;
  throw new AppError('E_INVALID_INPUT', `line ${line} is after the end of ${path}, which has ${lines.length} lines`);
}
