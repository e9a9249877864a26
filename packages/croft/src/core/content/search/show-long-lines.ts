import { cutText } from '../../../lib/text/cut-text.ts';
import { wholeCharsEnd, wholeCharsStart } from '../../../lib/text/utf8-boundaries.ts';
import type { Files, OpenFile } from '../../files/files.ts';

/** A match beyond the part of its line that ripgrep printed. */
export interface FarMatch {
  readonly path: string;
  /** Byte offset of the line in the file. */
  readonly lineStart: number;
  /** Byte offset of the match in the line. */
  readonly at: number;
  show(text: string): void;
}

/** Columns that ripgrep prints of a line: enough for a line of text, and for most matches in a longer one. */
export const printedColumns = 4000;

const maxLineLength = 1000;
const bytesBefore = 200;
const bytesAfter = maxLineLength - bytesBefore;
/** A match farther along its line is not in the shown beginning, or without the text that follows it. */
const nearBytes = maxLineLength - bytesBefore;
/** Each costs a read of its file. Further ones show the beginning of their line. */
const maxFarMatches = 100;
const byteOrderMarks = ['fffe', 'feff'];
const separator = /[\s"'`,;:=&|(){}[\]<>]/;

/** Returns the shown text of a line with a match at the byte `at`; `undefined` if `printed` does not reach it. */
export function showLine(printed: Buffer, at: number): string | undefined {
  const text = printed.toString().replace(/\r$/, '');
  if (text.length <= maxLineLength) return text;
  if (at < nearBytes) return `${cutText(text, maxLineLength)}… (line cut)`;
  return at + bytesAfter < printedColumns ? showAround(printed.subarray(at - bytesBefore), at) : undefined;
}

export function showStart(printed: Buffer, at: number): string {
  return `${cutText(printed.toString(), maxLineLength)}… (line cut; match at byte ${at + 1})`;
}

/** Reads the text around matches that are far into a line. */
export async function showFarMatches(files: Files, matches: readonly FarMatch[], signal: AbortSignal): Promise<void> {
  const byPath = Map.groupBy(matches.slice(0, maxFarMatches), ({ path }) => path);
  for (const [path, found] of byPath) {
    signal.throwIfAborted();
    // If the file is gone or replaced, the text that ripgrep printed stays.
    await showInFile(files, path, found).catch(() => undefined);
  }
}

async function showInFile(files: Files, path: string, found: readonly FarMatch[]): Promise<void> {
  await using file = await files.open(path);
  // Ripgrep counts bytes of UTF-8, and this file is UTF-16.
  if (byteOrderMarks.includes((await readRange(file, 0, 2)).toString('hex'))) return;
  for (const { lineStart, at, show } of found) {
    const start = lineStart + at - bytesBefore;
    const bytes = await readRange(file, start, start + maxLineLength);
    if (bytes.length > bytesBefore) show(showAround(bytes, at));
  }
}

async function readRange({ chunks, stat }: OpenFile, start: number, end: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks({ start, end: Math.min(end, stat.size) })) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

/**
 * `bytes` begin `bytesBefore` bytes before the match. The shown text begins at a word: half of a word may be half of a
 * secret.
 */
function showAround(bytes: Buffer, at: number): string {
  const line = bytes.subarray(0, maxLineLength);
  const before = line.subarray(wholeCharsStart(line), bytesBefore).toString();
  const end = line.indexOf('\n', bytesBefore);
  const rest = line.subarray(bytesBefore, end === -1 ? wholeCharsEnd(line) : end).toString();
  const first = before.search(separator);
  const shown = (first === -1 ? '' : before.slice(first + 1)) + rest.replace(/\r$/, '');
  return `…${shown}${end === -1 ? '…' : ''} (line cut; match at byte ${at + 1})`;
}
