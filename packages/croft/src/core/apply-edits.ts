import { AppError } from '@croft/protocol';
import { countBytes, replaceBytes } from '../lib/replace-bytes.ts';

export interface Edit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/**
 * Replaces in bytes, so that what is not text survives, and in the file's own line endings: callers see lines
 * without `\r` and write them so. Throws before anything is kept if one of the edits does not fit.
 */
export function applyEdits(before: Buffer, edits: readonly Edit[], path: string) {
  let [bytes, replaced] = [before, 0];
  for (const [index, edit] of edits.entries()) {
    const where = edits.length === 1 ? path : `${path} (edit ${index + 1} of ${edits.length})`;
    const result = applyEdit(bytes, edit, where);
    bytes = result.bytes;
    replaced += result.count;
  }
  return { bytes, replaced };
}

function applyEdit(bytes: Buffer, edit: Edit, where: string) {
  if (edit.old_string === '') throw new AppError('E_INVALID_INPUT', 'old_string must be non-empty');
  if (!edit.old_string.isWellFormed() || !edit.new_string.isWellFormed()) {
    throw new AppError('E_INVALID_INPUT', 'old_string or new_string holds half of a surrogate pair');
  }
  const { needle, replacement } = inEndingsOf(bytes, edit);
  const found = countBytes(bytes, needle);
  if (found === 0) throw new AppError('E_NO_MATCH', `old_string not found in ${where}`, { details: { path: where } });
  if (found > 1 && !edit.replace_all) {
    throw new AppError(
      'E_MANY_MATCHES',
      `old_string matched ${found} times in ${where}; add context to make it unique or set replace_all=true`,
      { details: { path: where, matches: found } },
    );
  }
  return replaceBytes(bytes, needle, replacement, { all: edit.replace_all ?? false });
}

/** As given where that fits; with `\r\n` in a file whose lines all end so, or where only that fits. */
function inEndingsOf(bytes: Buffer, { old_string, new_string }: Edit) {
  const given = { needle: Buffer.from(old_string), replacement: Buffer.from(new_string) };
  const crlfLines = countBytes(bytes, crlf);
  if (crlfLines === 0) return given;
  const converted = { needle: toCrlf(old_string), replacement: toCrlf(new_string) };
  const isCrlfFile = crlfLines === countBytes(bytes, lf);
  return isCrlfFile || (!bytes.includes(given.needle) && bytes.includes(converted.needle)) ? converted : given;
}

const lf = Buffer.from('\n');
const crlf = Buffer.from('\r\n');

function toCrlf(text: string): Buffer {
  return Buffer.from(text.replace(/\r?\n/g, '\r\n'));
}
