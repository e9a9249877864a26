import { AppError } from '@croft/protocol';
import { looksBinary } from '../lib/image-type.ts';
import { decodeText } from '../lib/lines.ts';

/** Which part of a file to show. */
export interface LineWindow {
  readonly offset: number;
  readonly limit: number;
  readonly column: number;
}

export interface ShownLines {
  readonly path: string;
  readonly size: number;
  /** The lines of the window, as they are in the file. */
  readonly content: string;
  readonly lossy: boolean;
  readonly window: LineWindow;
  readonly totalLines?: number;
}

const maxLineLength = 2000;
const maxTextLength = 256 * 1024;
const maxWindowBytes = 8 * 1024 * 1024;
const newline = 10;

/** Numbers the lines, and says how to read on where something was left out. */
export function renderLines({ path, size, content, lossy, window, totalLines }: ShownLines) {
  const shown: string[] = [];
  let [length, used, hasCut] = [0, 0, false];
  for (const line of toLines(content)) {
    const number = window.offset + shown.length;
    const text = cutLine(line.text, number, window.column);
    hasCut ||= text.length !== line.text.length;
    length += text.length;
    if (shown.length > 0 && length > maxTextLength) break;
    shown.push(`${number}\t${text}\n`);
    used += line.length;
  }
  const endLine = window.offset + shown.length - 1;
  const hasMore = totalLines === undefined || endLine < totalLines;
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
      content: content.slice(0, used),
      startLine: window.offset,
      endLine,
      ...(totalLines !== undefined && { totalLines }),
      truncated: hasMore || hasCut,
    },
  };
}

/** Finds the window in a file that is too large to hold, reading no further than it must. */
export async function readLarge(chunks: AsyncIterable<Buffer>, { offset, limit }: LineWindow, signal: AbortSignal) {
  const kept: Buffer[] = [];
  let [line, bytes, last] = [1, 0, -1];
  let isWhole = true;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    if (last === -1 && looksBinary(chunk)) return 'binary';
    last = chunk.at(-1) ?? -1;
    const start = skipLines(chunk, 0, offset - line);
    const end = skipLines(chunk, start.at, offset + limit - line - start.lines);
    line += start.lines + end.lines;
    kept.push(chunk.subarray(start.at, end.at));
    bytes += end.at - start.at;
    isWhole = line < offset + limit && bytes <= maxWindowBytes;
    if (!isWhole) break;
  }
  const totalLines = last === newline ? line - 1 : line;
  if (bytes === 0) throw pastTheEnd(offset, totalLines);
  const { text: content, lossy } = decodeText(Buffer.concat(kept));
  return { content, lossy, ...(isWhole && { totalLines }) };
}

export function pastTheEnd(offset: number, totalLines: number): AppError {
  return new AppError('E_INVALID_INPUT', `read: offset ${offset} exceeds line count ${totalLines}`, {
    details: { offset, totalLines },
  });
}

/** Where `count` lines further on is, or the end, and how many newlines lie between. */
function skipLines(chunk: Buffer, from: number, count: number): { at: number; lines: number } {
  let [at, lines] = [from, 0];
  while (lines < count) {
    const found = chunk.indexOf(newline, at);
    if (found === -1) return { at: chunk.length, lines };
    at = found + 1;
    lines += 1;
  }
  return { at, lines };
}

/** Each line without its ending, and its length with it. */
function* toLines(content: string) {
  for (let start = 0; start < content.length; ) {
    const at = content.indexOf('\n', start);
    const end = at === -1 ? content.length : at;
    const isCrlf = end > start && content.charCodeAt(end - 1) === 13;
    const from = start === 0 && content.charCodeAt(0) === 0xfeff ? 1 : start;
    const length = (at === -1 ? end : end + 1) - start;
    yield { text: content.slice(from, isCrlf ? end - 1 : end), length };
    start += length;
  }
}

function cutLine(text: string, number: number, column: number): string {
  if (column === 1 && text.length <= maxLineLength) return text;
  const part = text.slice(column - 1, column - 1 + maxLineLength);
  const next = column + part.length;
  if (next > text.length) return part;
  return `${part}… (characters ${column}-${next - 1} of ${text.length}; read on with offset: ${number}, limit: 1, column: ${next})`;
}
