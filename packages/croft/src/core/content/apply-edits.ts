import { AppError } from '@croft/protocol';
import { findLineAware, type Range } from '../../lib/text/line-aware-search.ts';

export interface Edit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

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
    const ranges = findRanges(bytes, edit, { path, ...(edits.length > 1 && { edit: index + 1, of: edits.length }) });
    bytes = replaceRanges(bytes, ranges, edit.new_string);
    replaced += ranges.length;
  }
  return { bytes, replaced };
}

interface Where {
  readonly path: string;
  readonly edit?: number;
  readonly of?: number;
}

function findRanges(bytes: Buffer, { old_string, replace_all = false }: Edit, where: Where): Range[] {
  const place = where.edit === undefined ? where.path : `${where.path} (edit ${where.edit} of ${where.of})`;
  const found = findLineAware(bytes, old_string);
  if (found.length === 0)
    throw new AppError('E_NO_MATCH', `old_string not found in ${place}`, { details: { ...where } });
  if (found.length === 1 || replace_all) return found;
  throw new AppError(
    'E_MANY_MATCHES',
    `old_string matched ${found.length} times in ${place}; add context to make it unique or set replace_all=true`,
    { details: { ...where, matches: found.length } },
  );
}

function replaceRanges(bytes: Buffer, ranges: readonly Range[], text: string): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  for (const { start, end, ending } of ranges) {
    parts.push(bytes.subarray(copied, start), Buffer.from(ending === '\n' ? text : text.replace(/\r?\n/g, ending)));
    copied = end;
  }
  return Buffer.concat([...parts, bytes.subarray(copied)]);
}
