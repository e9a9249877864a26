import { AppError } from '@croft/protocol';
import { endOfLines, maxContentLines } from './answer-line-limits.ts';
import { endIndexWithin } from './json-size.ts';

/** Bytes of a page in JSON. A page is in the text of an answer, and once more in its structured content. */
const pageBytes = 32_000;

interface AnswerPage {
  readonly text: string;
  /** Absent on the last page. */
  readonly nextCursor?: string;
  /** Characters after this page. */
  readonly left: number;
}

/** The long answers of one session, of which the client received a part. The oldest are dropped first. */
export interface AnswerPages {
  /** Stores the text. Returns a function that makes cursors for parts of it. */
  store(text: string): (from: number, to: number) => string;
  /** Throws `E_INVALID_INPUT` for a cursor that this session was never given, or whose answer was dropped. */
  read(cursor: string): AnswerPage;
  /** Drops all answers. */
  close(): void;
}

/** A part of a stored text. */
interface AnswerCursor {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

export function toCursor({ id, from, to }: AnswerCursor): string {
  return `${id}.${from}-${to}`;
}

export function parseCursor(written: string): AnswerCursor | undefined {
  const [, id, from, to] = /^([0-9a-f]{8})\.(\d{1,9})-(\d{1,9})$/.exec(written) ?? [];
  return id === undefined ? undefined : { id, from: Number(from), to: Number(to) };
}

/** Returns the first page of a part of a text. */
export function pageOf(text: string, { id, from, to }: AnswerCursor): AnswerPage {
  const part = text.slice(0, to);
  const most = Math.min(endIndexWithin(part, from, pageBytes), endOfLines(part, from, maxContentLines));
  const stop = toLineEnd(part, from, most);
  const left = to - stop;
  return { text: part.slice(from, stop), left, ...(left > 0 && { nextCursor: toCursor({ id, from: stop, to }) }) };
}

/** Moves the end of a page back to the end of a line, unless that would drop more than half of the page. */
export function toLineEnd(text: string, start: number, end: number): number {
  if (end >= text.length) return end;
  const at = text.lastIndexOf('\n', end - 1) + 1;
  return at > start + (end - start) / 2 ? at : end;
}

export function unknownCursor(cursor: string): AppError {
  const message = `cursor: no answer is kept under ${cursor.slice(0, 100)}; make the call that named it again`;
  return new AppError('E_INVALID_INPUT', message, { details: { arguments: ['cursor'] } });
}
