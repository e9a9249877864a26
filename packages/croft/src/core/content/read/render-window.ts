import { AppError } from '@croft/protocol';
import { cutText } from '../../../lib/text/cut-text.ts';
import type { Utf16Order } from '../../../lib/text/utf16.ts';
import { jsonBytes } from '../../answers/json-size.ts';

/** The part of a file to show. */
export interface LineWindow {
  readonly offset: number;
  readonly limit: number;
  readonly column: number;
}

/** A line of a window, cut to what is shown of it. */
export interface WindowLine {
  readonly part: string;
  /** Length of the whole line, in the units of `column`. */
  readonly length: number;
  readonly ending: '\n' | '\r\n' | '';
}

interface FileWindow {
  readonly path: string;
  readonly size: number;
  readonly lines: readonly WindowLine[];
  readonly lossy: boolean;
  readonly window: LineWindow;
  readonly encoding?: Utf16Order | undefined;
  /** Left out if the file was not read to its end. */
  readonly totalLines?: number | undefined;
}

interface WholeFile {
  readonly path: string;
  readonly size: number;
  readonly content: string;
}

export const maxLineLength = 2000;
/**
 * Limit for all lines with their numbers, as JSON bytes: clients cut longer answers. The first line is always shown.
 */
export const maxShownBytes = 36_500;

/** Returns the bytes of `maxShownBytes` that a line takes: its text, its number, a tab and a newline. */
export function lineCost(part: string, number: number): number {
  return jsonBytes(part) - 2 + String(number).length + 4;
}

/** Notices about the encoding of a file. */
function encodingNotices(lossy: boolean, encoding: Utf16Order | undefined): { notices?: string[] } {
  if (!encoding && !lossy) return {};
  if (!encoding)
    return { notices: ['(not valid UTF-8: other bytes are shown as \uFFFD, and kept when the file is edited)\n'] };
  if (!lossy) return { notices: [`(${encoding.toUpperCase()}; an edit keeps it)\n`] };
  return { notices: ['(not valid UTF-16: invalid characters are shown as \uFFFD, and edit refuses the file)\n'] };
}

/** Renders numbered lines, and says how to read on if something was left out. */
export function renderWindow({ path, size, lines: cut, lossy, window, encoding, totalLines }: FileWindow) {
  // A column may be in the middle of a character, and many clients could not read an answer with half a character.
  const lines = window.column === 1 ? cut : cut.map((line) => ({ ...line, part: line.part.toWellFormed() }));
  const endLine = window.offset + lines.length - 1;
  const hasMore = totalLines === undefined || endLine < totalLines;
  const numbered = lines
    .map((line, index) => {
      // Readers do not see a byte order mark.
      const part = line.part.startsWith('\uFEFF') ? line.part.slice(1) : line.part;
      return `${window.offset + index}\t${part}${cutNotice(line, index, window)}\n`;
    })
    .join('');
  const note = `(lines ${window.offset}-${endLine} of ${totalLines ?? 'many'}; read on with offset: ${endLine + 1})\n`;
  return {
    text: hasMore ? numbered + note : numbered,
    structured: {
      ...{ path, kind: 'text' as const, size, ...(encoding && { encoding }), startLine: window.offset, endLine },
      content: lines.map(({ part, ending }) => part + ending).join(''),
      ...(totalLines !== undefined && { totalLines }),
      truncated: hasMore || lines.some((line) => isCut(line, window)),
      ...(hasMore && { nextOffset: endLine + 1 }),
    },
    forModel: { content: numbered },
    ...encodingNotices(lossy, encoding),
  };
}

/**
 * Renders like `renderWindow`, in a quarter of the time, a text that is shown whole and unchanged, as most are.
 * `undefined` for any other.
 */
export function renderWhole({ path, size, content }: WholeFile, { offset, limit, column }: LineWindow) {
  const isPlain = offset === 1 && column === 1 && content.length <= maxShownBytes && !hasMarks(content);
  if (!isPlain || content === '') return undefined;
  let [text, lines] = ['', 0];
  for (let start = 0; start < content.length; ) {
    const at = content.indexOf('\n', start);
    const end = at === -1 ? content.length : at + 1;
    if (end - start > maxLineLength || lines === limit) return undefined;
    lines += 1;
    text += `${lines}\t${content.slice(start, end)}`;
    start = end;
  }
  const numbered = content.endsWith('\n') ? text : `${text}\n`;
  if (jsonBytes(numbered) > maxShownBytes) return undefined;
  return {
    text: numbered,
    structured: {
      ...{ path, kind: 'text' as const, size, content },
      ...{ startLine: 1, endLine: lines, totalLines: lines, truncated: false },
    },
    forModel: { content: numbered },
  };
}

/** Whether the text has characters that readers do not see. */
function hasMarks(content: string): boolean {
  return content.includes('\r') || content.includes('\uFEFF');
}

/** Splits a text in memory into lines, cut to what is shown. */
export function cutLines(content: string, { column, offset }: LineWindow): WindowLine[] {
  const lines: WindowLine[] = [];
  let length = 0;
  for (let start = 0; start < content.length; ) {
    const at = content.indexOf('\n', start);
    const end = at === -1 ? content.length : at;
    const ending = at === -1 ? '' : endingAt(content, start, end);
    const line = toLine(content.slice(start, ending === '\r\n' ? end - 1 : end), ending, column);
    length += lineCost(line.part, offset + lines.length);
    if (lines.length > 0 && length > maxShownBytes) break;
    lines.push(line);
    start = end + 1;
  }
  return lines;
}

function endingAt(content: string, start: number, end: number): '\n' | '\r\n' {
  return end > start && content.charCodeAt(end - 1) === 13 ? '\r\n' : '\n';
}

export function offsetPastEndError(offset: number, totalLines: number): AppError {
  return new AppError('E_INVALID_INPUT', `read: offset ${offset} exceeds line count ${totalLines}`, {
    details: { offset, totalLines },
  });
}

function toLine(text: string, ending: WindowLine['ending'], column: number): WindowLine {
  const part = column === 1 && text.length <= maxLineLength ? text : cutText(text, maxLineLength, column - 1);
  return { part, length: text.length, ending };
}

function isCut({ part, length }: WindowLine, { column }: LineWindow): boolean {
  return column - 1 + part.length < length;
}

function cutNotice(line: WindowLine, index: number, window: LineWindow): string {
  if (!isCut(line, window)) return '';
  const next = window.column + line.part.length;
  const range = `characters ${window.column}-${next - 1} of ${line.length}`;
  return `… (${range}; read on with offset: ${window.offset + index}, limit: 1, column: ${next})`;
}
