import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import { wholeCharsEnd } from '../../lib/text/utf8-boundaries.ts';
import type { Files } from '../files/files.ts';
import { ignorePathError } from './ignore-path-error.ts';

/** Front matter that is longer is not read. */
const headBytes = 16 * 1024;

export interface FileHead {
  /** Path of the file with links resolved. */
  readonly path: string;
  readonly size: number;
  readonly text: string;
}

/** Reads the beginning of a file; `undefined` if it does not exist, is no file or lies out of reach. */
export async function readFileHead(files: Files, path: string): Promise<FileHead | undefined> {
  return await readStart(files, path, headBytes).catch(ignorePathError);
}

/** Reads at most `maxBytes`, in whole characters. */
export async function readStart(files: Files, path: string, maxBytes: number): Promise<FileHead> {
  await using file = await files.open(path);
  const chunks: Buffer[] = [];
  for await (const chunk of file.chunks({ start: 0, end: maxBytes })) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
  return { path: file.stat.path, size: file.stat.size, text: bytes.toString('utf8', 0, wholeCharsEnd(bytes)) };
}

/** Makes one line that is safe to show. */
export function toSafeLine(text: string, maxLength: number): string {
  const line = stripControlSequences(text).replace(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}
