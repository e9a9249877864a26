import { AppError } from '@croft/protocol';
import { cutText } from '../../lib/text/cut-text.ts';

/** Which part of a file to show. */
export interface LineWindow {
  readonly offset: number;
  readonly limit: number;
  readonly column: number;
}

/** A line of a window, cut to what is shown of it. */
export interface WindowLine {
  readonly part: string;
  /** Of the whole line, in the units that `column` counts. */
  readonly length: number;
  readonly ending: '\n' | '\r\n' | '';
}

export interface WindowOfFile {
  readonly path: string;
  readonly size: number;
  readonly lines: readonly WindowLine[];
  readonly lossy: boolean;
  readonly window: LineWindow;
  /** Not known of a file that was not read to its end. */
  readonly totalLines?: number | undefined;
}

export interface WholeFile {
  readonly path: string;
  readonly size: number;
  readonly content: string;
}

export const maxLineLength = 2000;
/** Of all lines together. The first one is shown in any case. */
export const maxTextLength = 256 * 1024;

/** Numbers the lines, and says how to read on where something was left out. */
export function renderWindow({ path, size, lines: cut, lossy, window, totalLines }: WindowOfFile) {
  // A column may be in the middle of a character, and half of one is no text: many a client could not read the answer.
  const lines = window.column === 1 ? cut : cut.map((line) => ({ ...line, part: line.part.toWellFormed() }));
  const endLine = window.offset + lines.length - 1;
  const hasMore = totalLines === undefined || endLine < totalLines;
  const shown = lines.map((line, index) => {
    // A byte order mark is for programs; to a reader the line begins after it.
    const part = line.part.startsWith('\uFEFF') ? line.part.slice(1) : line.part;
    return `${window.offset + index}\t${part}${noteOfCut(line, index, window)}\n`;
  });
  const notes = [
    hasMore && `(lines ${window.offset}-${endLine} of ${totalLines ?? 'many'}; read on with offset: ${endLine + 1})\n`,
    lossy && '(not valid UTF-8: other bytes are shown as \uFFFD, and kept when the file is edited)\n',
  ].filter((note) => note !== false);
  return {
    text: [...shown, ...notes].join(''),
    structured: {
      path,
      kind: 'text' as const,
      size,
      content: lines.map(({ part, ending }) => part + ending).join(''),
      startLine: window.offset,
      endLine,
      ...(totalLines !== undefined && { totalLines }),
      truncated: hasMore || lines.some((line) => isCut(line, window)),
    },
  };
}

/**
 * What `renderWindow` makes of a text that is shown from its first line to its last and as it is, which most are, in a
 * quarter of the time. `undefined` for any other.
 */
export function renderWhole({ path, size, content }: WholeFile, { offset, limit, column }: LineWindow) {
  const isPlain = offset === 1 && column === 1 && content.length <= maxTextLength && !hasMarks(content);
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
  return {
    text: content.endsWith('\n') ? text : `${text}\n`,
    structured: {
      ...{ path, kind: 'text' as const, size, content },
      ...{ startLine: 1, endLine: lines, totalLines: lines, truncated: false },
    },
  };
}

/** Characters that a reader is not shown. */
function hasMarks(content: string): boolean {
  return content.includes('\r') || content.includes('\uFEFF');
}

/** The lines of a text that is held whole. */
export function cutLines(content: string, { column }: LineWindow): WindowLine[] {
  const lines: WindowLine[] = [];
  let length = 0;
  for (let start = 0; start < content.length; ) {
    const at = content.indexOf('\n', start);
    const end = at === -1 ? content.length : at;
    const ending = at === -1 ? '' : endingAt(content, start, end);
    const line = toLine(content.slice(start, ending === '\r\n' ? end - 1 : end), ending, column);
    length += line.part.length;
    if (lines.length > 0 && length > maxTextLength) break;
    lines.push(line);
    start = end + 1;
  }
  return lines;
}

function endingAt(content: string, start: number, end: number): '\n' | '\r\n' {
  return end > start && content.charCodeAt(end - 1) === 13 ? '\r\n' : '\n';
}

export function pastTheEnd(offset: number, totalLines: number): AppError {
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

function noteOfCut(line: WindowLine, index: number, window: LineWindow): string {
  if (!isCut(line, window)) return '';
  const next = window.column + line.part.length;
  const range = `characters ${window.column}-${next - 1} of ${line.length}`;
  return `… (${range}; read on with offset: ${window.offset + index}, limit: 1, column: ${next})`;
}
