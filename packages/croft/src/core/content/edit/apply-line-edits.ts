import { AppError } from '@croft/protocol';
import { countLines, sliceLines } from '../../../lib/text/lines/lines.ts';
import { applyEdits, type EditedFile } from './apply-edits.ts';

/** A replacement in lines of the file as it was before the call, counted from 1, both ends included. */
export interface LineEdit {
  readonly first: number;
  readonly last: number;
  /** Left out: replaces all of the lines. */
  readonly old_string?: string | undefined;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** Applies all edits, or throws if one of them does not fit. */
export function applyLineEdits(before: Buffer, edits: readonly LineEdit[], path: string): EditedFile {
  const sorted = edits.toSorted((one, other) => one.first - other.first);
  checkLines(sorted, countLines(before), path);
  const parts: Buffer[] = [];
  let [copied, replaced] = [0, 0];
  for (const edit of sorted) {
    const { start, end } = sliceLines(before, edit.first, edit.last - edit.first + 1);
    const made = applyOne(before.subarray(start, end), edit, path);
    parts.push(before.subarray(copied, start), made.bytes);
    replaced += made.replaced;
    copied = end;
  }
  return { bytes: Buffer.concat([...parts, before.subarray(copied)]), replaced };
}

function checkLines(sorted: readonly LineEdit[], total: number, path: string): void {
  for (const [index, { first, last }] of sorted.entries()) {
    if (last < first) throw invalidLineEdit(`end_line ${last} is before start_line ${first}`);
    if (last > total) throw invalidLineEdit(`line ${last} is past the end of ${path}, which has ${total} lines`);
    const next = sorted[index + 1];
    if (next && next.first <= last)
      throw invalidLineEdit(`edits of lines ${first}-${last} and ${next.first}-${next.last} overlap`);
  }
}

function applyOne(
  lines: Buffer,
  { first, last, old_string, new_string, replace_all }: LineEdit,
  path: string,
): EditedFile {
  if (old_string === undefined) return { bytes: toLines(new_string, lines), replaced: 1 };
  return applyEdits(lines, [{ old_string, new_string, replace_all }], `lines ${first}-${last} of ${path}`);
}

/** Replaces whole lines with whole lines that keep the old line endings. */
function toLines(text: string, lines: Buffer): Buffer {
  const endsLine = lines.at(-1) === 10;
  const whole = text !== '' && endsLine && !text.endsWith('\n') ? `${text}\n` : text;
  const isCrlf = lines.includes('\r\n') && !whole.includes('\r');
  return Buffer.from(isCrlf ? whole.replaceAll('\n', '\r\n') : whole);
}

function invalidLineEdit(message: string): AppError {
  return new AppError('E_INVALID_INPUT', message);
}
