import { AppError } from '@croft/protocol';
import type { SourceLocation } from '../ports/code-answers.ts';

/** A cursor is the number of items before the page and the version of the tree: other files give another list. */
export function toCursor(offset: number, treeVersion: string): string {
  return `${offset}@${treeVersion}`;
}

/** Returns the offset. Throws `E_STALE` for a cursor of another version of the tree. */
export function readCursor(cursor: string | undefined, treeVersion: string): number {
  if (cursor === undefined) return 0;
  const [, offset, version] = /^(\d{1,9})@(.{1,100})$/.exec(cursor) ?? [];
  if (offset === undefined) throw new AppError('E_INVALID_INPUT', 'cursor is not one that find_references answered');
  if (version === treeVersion) return Number(offset);
  throw new AppError('E_STALE', 'files changed since the first page; call find_references again without cursor');
}

/** Renders places by file; columns on one line are merged: `4:22,36`. */
export function renderByFile(items: readonly SourceLocation[]): string[] {
  const rows: string[] = [];
  let previous: SourceLocation | undefined;
  for (const item of items) {
    if (item.path !== previous?.path) rows.push(item.path);
    if (item.path === previous?.path && item.line === previous.line) {
      const [row = ''] = rows.splice(-1);
      rows.push(row.replace(/^( {2}[\d:,]+)/, `$1,${item.col}`));
    } else rows.push(`  ${item.line}:${item.col}  ${item.text}`);
    previous = item;
  }
  return rows;
}
