import { AppError } from '@croft/protocol';
import type { TextEdit } from '../ports/protocol-schemas.ts';
import type { SourceText } from '../ports/source-text.ts';

interface OffsetEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Applies the edits of a server to a text. All other bytes stay as they are, line ends and byte order mark included.
 * Throws `E_CODE_SERVER` for edits that overlap or lie outside of the text.
 */
export function applyTextEdits(source: SourceText, edits: readonly TextEdit[]): Buffer {
  const sorted = edits.map((edit) => toOffsets(source, edit)).sort((a, b) => a.start - b.start || a.end - b.end);
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text } of sorted) {
    if (start < at) throw wrongEdits(source, 'overlap');
    parts.push(source.text.slice(at, start), text);
    at = end;
  }
  parts.push(source.text.slice(at));
  return Buffer.from(`${source.hasMark ? '\uFEFF' : ''}${parts.join('')}`);
}

function toOffsets(source: SourceText, { range, newText }: TextEdit): OffsetEdit {
  const [start, end] = [source.offsetOf(range.start), source.offsetOf(range.end)];
  if (start === undefined || end === undefined || end < start) throw wrongEdits(source, 'are not within the text');
  return { start, end, text: newText };
}

function wrongEdits({ path }: SourceText, how: string): AppError {
  return new AppError('E_CODE_SERVER', `nothing was changed: the edits of the language server for ${path} ${how}`, {
    details: { path },
    hint: 'Change the places yourself: find_references lists them.',
  });
}
