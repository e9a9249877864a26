import { AppError } from '@croft/protocol';
import {
  findIgnoringLineEndings,
  type RangeWithLineEnding,
  type UntouchedEnds,
} from '../../../lib/text/lines/find-ignoring-line-endings.ts';
import { decodeUtf16, detectUtf16, encodeUtf16 } from '../../../lib/text/utf16.ts';

export interface Edit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** The edited file, and how many replacements changed something. */
export interface EditedFile {
  readonly bytes: Buffer;
  readonly replaced: number;
}

/** A larger file could not be read whole to be edited again. */
const maxBytes = 64 * 1024 * 1024;
/**
 * Limit for all edits of a call. Each match takes many times its own size in memory, and the server does nothing else
 * meanwhile.
 */
const maxMatches = 100_000;

/** Rejects an edit that is invalid for any file (empty `old_string`, half a surrogate pair) before any file is read. */
export function checkEdit({ old_string, new_string }: Edit): void {
  if (old_string === '') throw new AppError('E_INVALID_INPUT', 'old_string must be non-empty');
  if (old_string.isWellFormed() && new_string.isWellFormed()) return;
  throw new AppError('E_INVALID_INPUT', 'old_string or new_string holds half of a surrogate pair');
}

/** Applies edits to a file in UTF-8 or UTF-16, which keeps its encoding. Rejects invalid UTF-16. */
export function applyEdits(before: Buffer, edits: readonly Edit[], path: string): EditedFile {
  const order = detectUtf16(before);
  if (!order) return applyToUtf8(before, edits, path);
  const { text, lossy } = decodeUtf16(before, order);
  if (lossy) throw brokenUtf16(path);
  const { bytes, replaced } = applyToUtf8(Buffer.from(text), edits, path);
  return { bytes: encodeUtf16(bytes.toString(), order), replaced };
}

/**
 * Replaces bytes, so that content which is not text survives, and keeps the file's line endings: callers see and write
 * lines without `\r`. Throws before anything changes if an edit does not fit.
 */
function applyToUtf8(before: Buffer, edits: readonly Edit[], path: string): EditedFile {
  const copies = createSpareBuffers();
  let [bytes, replaced]: [Buffer, number] = [before, 0];
  for (const [index, edit] of edits.entries()) {
    const where = { path, ...(edits.length > 1 && { edit: index + 1, of: edits.length }) };
    const lines = splitUnchangedLines(edit);
    const ranges = findRanges(bytes, edit, { where, max: maxMatches - replaced, unchanged: lines.kept });
    if (edit.old_string === edit.new_string) continue;
    bytes = replaceRanges(bytes, ranges, lines.changed, { where, allocate: copies.next });
    replaced += ranges.length;
  }
  return { bytes, replaced };
}

/**
 * Provides buffers for successive versions of a file. Only the last version is needed, so two buffers alternate: fresh
 * memory takes longer than the copy.
 */
function createSpareBuffers() {
  let [last, spare] = [Buffer.alloc(0), Buffer.alloc(0)];
  return {
    next(size: number): Buffer {
      [last, spare] = [spare.length < size ? Buffer.allocUnsafeSlow(size + (size >> 3)) : spare, last];
      return last.subarray(0, size);
    },
  };
}

interface EditLocation {
  readonly path: string;
  readonly edit?: number;
  readonly of?: number;
}

/**
 * Splits off the equal lines at the start and the end of an edit. They only locate it and stay as they are, because
 * each may have its own line ending. An edit that writes `\r` itself replaces all of its lines.
 */
function splitUnchangedLines({ old_string: before, new_string: after }: Edit): {
  kept: UntouchedEnds;
  changed: string;
} {
  if (before.includes('\r') || after.includes('\r')) return { kept: { head: 0, tail: 0 }, changed: after };
  const limit = Math.min(before.length, after.length);
  let [head, tail] = [0, 0];
  while (head < limit && before[head] === after[head]) head += 1;
  head = before.slice(0, head).lastIndexOf('\n') + 1;
  while (tail < limit - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const end = before.indexOf('\n', before.length - tail);
  tail = end === -1 ? 0 : before.length - end;
  const unchanged = {
    head: Buffer.byteLength(before.slice(0, head)),
    tail: Buffer.byteLength(before.slice(before.length - tail)),
  };
  return { kept: unchanged, changed: after.slice(head, after.length - tail) };
}

interface MatchOptions {
  readonly where: EditLocation;
  readonly max: number;
  readonly unchanged: UntouchedEnds;
}

function findRanges(
  bytes: Buffer,
  { old_string, replace_all = false }: Edit,
  { where, max, unchanged }: MatchOptions,
): RangeWithLineEnding[] {
  const location = where.edit === undefined ? where.path : `${where.path} (edit ${where.edit} of ${where.of})`;
  const found = findIgnoringLineEndings(bytes, old_string, max + 1, unchanged);
  if (found.length === 0)
    throw new AppError('E_NO_MATCH', `old_string not found in ${location}`, { details: { ...where } });
  if (found.length > max)
    throw tooLargeError(`old_string matched too often in ${location} (at most ${maxMatches})`, where);
  if (found.length === 1 || replace_all) return found;
  throw new AppError(
    'E_MANY_MATCHES',
    `old_string matched ${found.length} times in ${location}; add context to make it unique or set replace_all=true`,
    { details: { ...where, matches: found.length } },
  );
}

interface ReplaceOptions {
  readonly where: EditLocation;
  /** Returns a buffer for the result. */
  allocate(size: number): Buffer;
}

function replaceRanges(
  bytes: Buffer,
  ranges: readonly RangeWithLineEnding[],
  text: string,
  { where, allocate }: ReplaceOptions,
): Buffer {
  const texts = { '\n': Buffer.from(text), '\r\n': Buffer.from(text.replace(/\r?\n/g, '\r\n')) };
  const size = ranges.reduce((sum, { start, end, ending }) => sum + texts[ending].length - (end - start), bytes.length);
  if (size > maxBytes)
    throw tooLargeError(`${where.path} would be too large (${size} bytes, at most ${maxBytes})`, where);
  const result = allocate(size);
  let [copied, length] = [0, 0];
  for (const { start, end, ending } of ranges) {
    length += bytes.copy(result, length, copied, start);
    length += texts[ending].copy(result, length);
    copied = end;
  }
  bytes.copy(result, length, copied);
  return result;
}

function brokenUtf16(path: string): AppError {
  return new AppError('E_INVALID_INPUT', `${path} is not valid UTF-16, so an edit could not keep all of it`, {
    details: { path },
    hint: 'Change it with a command, or write it anew.',
  });
}

function tooLargeError(message: string, where: EditLocation): AppError {
  return new AppError('E_TOO_LARGE', message, { details: { ...where } });
}
