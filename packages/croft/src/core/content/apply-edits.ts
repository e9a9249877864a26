import { AppError } from '@croft/protocol';
import { findLineAware, type Kept, type Range } from '../../lib/text/line-aware-search.ts';

export interface Edit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** A larger one could not be read whole, to be edited again. */
const maxBytes = 64 * 1024 * 1024;
/** Of all edits of a call. Each takes many times its own size to keep, and the server does nothing else meanwhile. */
const maxMatches = 100_000;

/** Throws for what no file can have, before one is looked at. */
export function checkEdit({ old_string, new_string }: Edit): void {
  if (old_string === '') throw new AppError('E_INVALID_INPUT', 'old_string must be non-empty');
  if (old_string.isWellFormed() && new_string.isWellFormed()) return;
  throw new AppError('E_INVALID_INPUT', 'old_string or new_string holds half of a surrogate pair');
}

/**
 * Replaces in bytes, so that what is not text survives, and in the file's own line endings: callers see lines
 * without `\r` and write them so. Throws before anything is kept if one of the edits does not fit.
 */
export function applyEdits(before: Buffer, edits: readonly Edit[], path: string) {
  let [bytes, replaced] = [before, 0];
  for (const [index, edit] of edits.entries()) {
    const where = { path, ...(edits.length > 1 && { edit: index + 1, of: edits.length }) };
    const lines = splitKept(edit);
    const ranges = findRanges(bytes, edit, { where, max: maxMatches - replaced, kept: lines.kept });
    bytes = replaceRanges(bytes, ranges, lines.changed, where);
    replaced += ranges.length;
  }
  return { bytes, replaced };
}

interface Where {
  readonly path: string;
  readonly edit?: number;
  readonly of?: number;
}

/**
 * The lines that an edit begins and ends with only to be found by stay as they are: each may end in a way of its own. One
 * that writes `\r` itself means all of it so.
 */
function splitKept({ old_string: before, new_string: after }: Edit): { kept: Kept; changed: string } {
  if (before.includes('\r') || after.includes('\r')) return { kept: { head: 0, tail: 0 }, changed: after };
  const limit = Math.min(before.length, after.length);
  let [head, tail] = [0, 0];
  while (head < limit && before[head] === after[head]) head += 1;
  head = before.slice(0, head).lastIndexOf('\n') + 1;
  while (tail < limit - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const end = before.indexOf('\n', before.length - tail);
  tail = end === -1 ? 0 : before.length - end;
  const kept = {
    head: Buffer.byteLength(before.slice(0, head)),
    tail: Buffer.byteLength(before.slice(before.length - tail)),
  };
  return { kept, changed: after.slice(head, after.length - tail) };
}

interface Finding {
  readonly where: Where;
  readonly max: number;
  readonly kept: Kept;
}

function findRanges(bytes: Buffer, { old_string, replace_all = false }: Edit, { where, max, kept }: Finding): Range[] {
  const place = where.edit === undefined ? where.path : `${where.path} (edit ${where.edit} of ${where.of})`;
  const found = findLineAware(bytes, old_string, max + 1, kept);
  if (found.length === 0)
    throw new AppError('E_NO_MATCH', `old_string not found in ${place}`, { details: { ...where } });
  if (found.length > max) throw tooLarge(`old_string matched too often in ${place} (at most ${maxMatches})`, where);
  if (found.length === 1 || replace_all) return found;
  throw new AppError(
    'E_MANY_MATCHES',
    `old_string matched ${found.length} times in ${place}; add context to make it unique or set replace_all=true`,
    { details: { ...where, matches: found.length } },
  );
}

function replaceRanges(bytes: Buffer, ranges: readonly Range[], text: string, where: Where): Buffer {
  const texts = { '\n': Buffer.from(text), '\r\n': Buffer.from(text.replace(/\r?\n/g, '\r\n')) };
  const size = ranges.reduce((sum, { start, end, ending }) => sum + texts[ending].length - (end - start), bytes.length);
  if (size > maxBytes) throw tooLarge(`${where.path} would be too large (${size} bytes, at most ${maxBytes})`, where);
  const result = Buffer.allocUnsafe(size);
  let [copied, length] = [0, 0];
  for (const { start, end, ending } of ranges) {
    length += bytes.copy(result, length, copied, start);
    length += texts[ending].copy(result, length);
    copied = end;
  }
  bytes.copy(result, length, copied);
  return result;
}

function tooLarge(message: string, where: Where): AppError {
  return new AppError('E_TOO_LARGE', message, { details: { ...where } });
}
