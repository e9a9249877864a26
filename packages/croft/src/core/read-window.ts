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
export async function readLarge(chunks: AsyncIterable<Buffer>, { offset, limit }: LineWindow) {
  const kept: Buffer[] = [];
  let [line, bytes] = [1, 0];
  for await (const chunk of chunks) {
    if (line === 1 && bytes === 0 && looksBinary(chunk)) return 'binary';
    let start = line >= offset ? 0 : -1;
    for (let end = chunk.indexOf(newline); end !== -1 && line < offset + limit; end = chunk.indexOf(newline, end + 1)) {
      line += 1;
      if (line === offset) start = end + 1;
      if (line === offset + limit) kept.push(chunk.subarray(Math.max(start, 0), end + 1));
    }
    if (line === offset + limit) break;
    if (start >= 0) kept.push(chunk.subarray(start));
    bytes = kept.reduce((sum, { length }) => sum + length, 0);
    if (bytes > maxWindowBytes) break;
  }
  if (line < offset)
    throw new AppError('E_INVALID_INPUT', `read: offset ${offset} exceeds line count ${line}`, { details: { offset } });
  const { text: content, lossy } = decodeText(Buffer.concat(kept));
  return { content, lossy };
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
