import { stripControl } from '../../lib/text/strip-control.ts';
import { wholeCharsEnd } from '../../lib/text/utf8.ts';
import type { Files } from '../files.ts';
import { passOver } from './passed-over.ts';

/** Front matter that is longer is not read. */
const headBytes = 16 * 1024;

export interface Head {
  /** Where the file really is. */
  readonly path: string;
  readonly size: number;
  readonly text: string;
}

/** The beginning of a file, however long it is. `undefined` for what is not there, no file, or out of reach. */
export async function readHead(files: Files, path: string): Promise<Head | undefined> {
  return await readStart(files, path, headBytes).catch(passOver);
}

/** At most so many bytes, as whole characters. */
export async function readStart(files: Files, path: string, maxBytes: number): Promise<Head> {
  await using file = await files.open(path);
  const chunks: Buffer[] = [];
  for await (const chunk of file.chunks({ start: 0, end: maxBytes })) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
  return { path: file.stat.path, size: file.stat.size, text: bytes.toString('utf8', 0, wholeCharsEnd(bytes)) };
}

/** One line that is safe to show. */
export function toLine(text: string, maxLength: number): string {
  const line = stripControl(text).replace(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}
