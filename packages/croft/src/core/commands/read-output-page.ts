import { createTurns } from '../../lib/concurrency/turns.ts';
import type { OutputBuffer } from '../../lib/text/lines/output-buffer.ts';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';

interface OutputPage {
  readonly text: string;
  /** Start of the next page. */
  readonly cursor: number;
  /** Bytes of this page that are no longer stored. */
  readonly missed: number;
}

interface PageOptions {
  readonly cursor: number;
  /** The command will print nothing more. */
  readonly final: boolean;
  /** Removes unwanted lines. */
  filter(text: string): Promise<string>;
}

/** Limit of a page as a JSON string: clients cut answers of more than 40 kB. */
const maxPageBytes = 36_000;
/**
 * Bytes read at once. A byte becomes at most three (one that is not text), so a piece always fits into an empty page.
 */
const pieceBytes = 8 * 1024;

/**
 * Reads a command's output from a cursor on, in whole lines, as much as fits into one answer. The cursor never skips
 * output that was not returned. A line longer than a piece is filtered piece by piece.
 */
export async function readOutputPage(
  buffer: OutputBuffer,
  { cursor, final, filter }: PageOptions,
): Promise<OutputPage> {
  const turn = createTurns();
  let [page, bytesLeft]: [OutputPage, number] = [{ text: '', cursor, missed: 0 }, maxPageBytes];
  for (;;) {
    await turn();
    const piece = buffer.textSince(page.cursor, { final, maxBytes: pieceBytes });
    const text = await filter(stripControlSequences(piece.text));
    bytesLeft -= Buffer.byteLength(JSON.stringify(text));
    if (piece.cursor === page.cursor || bytesLeft < 0) return page;
    page = { text: page.text + text, cursor: piece.cursor, missed: page.missed + piece.missed };
  }
}

/** Returns a cursor from which only the last lines are read. */
export function lastLinesCursor(buffer: OutputBuffer): number {
  const { bytes } = buffer.since(buffer.total - pieceBytes);
  return buffer.total - bytes.length + bytes.indexOf('\n') + 1;
}
