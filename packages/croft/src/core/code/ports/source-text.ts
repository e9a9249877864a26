import { AppError } from '@croft/protocol';
import type { FileContent, Files } from '../../files/files.ts';
import type { Position, Range } from './protocol-schemas.ts';

const maxBytes = 1024 * 1024;
const maxLine = 20_000;
const mark = '\uFEFF';

/** The text of a source file with its lines, as language servers count them. */
export interface SourceText {
  /** The real path from the root. */
  readonly path: string;
  readonly version: string;
  /** Without the byte order mark. */
  readonly text: string;
  readonly hasMark: boolean;
  /** Without their ends. */
  readonly lines: readonly string[];
  /** Offset of a position in `text`. Returns `undefined` for a position that the text does not have. */
  offsetOf(position: Position): number | undefined;
}

/** Reads a file for a language server. Throws `E_NOT_PARSED` for a file that no server should get. */
export async function readSource(files: Pick<Files, 'read'>, path: string): Promise<SourceText> {
  const file = await files.read(path, { maxBytes }).catch((thrown) => {
    if (AppError.is(thrown) && thrown.code === 'E_TOO_LARGE') throw notParsed(path, 'it is larger than 1 MB');
    throw thrown;
  });
  return toSource(file, path);
}

function toSource({ path, version, bytes }: FileContent, written: string): SourceText {
  if (bytes.includes(0)) throw notParsed(written, 'it is a binary file');
  const whole = decode(bytes, written);
  const hasMark = whole.startsWith(mark);
  const text = hasMark ? whole.slice(1) : whole;
  const starts = lineStarts(text);
  const lines = starts.map((start, index) => text.slice(start, starts[index + 1]).replace(/[\r\n]+$/, ''));
  if (lines.some((line) => line.length > maxLine))
    throw notParsed(written, `a line is longer than ${maxLine} characters`);
  const offsetOf = ({ line, character }: Position) => {
    const [start, length] = [starts[line], lines[line]?.length ?? 0];
    return start === undefined || character > length ? undefined : start + character;
  };
  return { path, version, text, hasMark, lines, offsetOf };
}

function decode(bytes: Buffer, written: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw notParsed(written, 'it is not UTF-8');
  }
}

function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), ({ index, 0: end }) => index + end.length)];
}

function notParsed(path: string, why: string): AppError {
  return new AppError('E_NOT_PARSED', `${path} is not read as source code: ${why}`, {
    details: { path },
    hint: 'Use grep, read and edit for this file.',
  });
}

/** The text of a range, which may be wrong for this text: then `undefined`. */
export function textIn(source: SourceText, { start, end }: Range): string | undefined {
  const [from, to] = [source.offsetOf(start), source.offsetOf(end)];
  return from === undefined || to === undefined || to < from ? undefined : source.text.slice(from, to);
}
