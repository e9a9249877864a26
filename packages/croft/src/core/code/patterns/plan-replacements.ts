import { AppError } from '@croft/protocol';
import { compactDiff } from '../../../lib/text/compact-diff.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { type EditPlan, type PlannedFile, refuseControlFiles } from '../rename/plan-edits.ts';
import { isVendored } from '../servers/is-vendored.ts';
import type { PatternMatch } from './pattern-match.ts';

const maxFileBytes = 4 * 1024 * 1024;
const maxDiffLines = 200;

/**
 * Works out the new content of every file with a match, before anything is written. All bytes outside of the matches stay
 * as they are. Throws `E_STALE` when a file is not the one that was searched, and `E_INVALID_INPUT` for matches in each
 * other and for vendored files.
 */
export async function planReplacements(
  matches: readonly PatternMatch[],
  { workspace }: Pick<ToolContext, 'workspace'>,
): Promise<EditPlan> {
  const byPath = Map.groupBy(matches, ({ path }) => path);
  for (const path of byPath.keys())
    if (isVendored(path)) throw refused(`the change would reach ${path}, which is vendored; narrow path`);
  await refuseControlFiles([...byPath.keys()], workspace);
  const files: PlannedFile[] = [];
  for (const [path, own] of byPath) {
    const { bytes, version } = await workspace.files.read(path, { maxBytes: maxFileBytes });
    const after = replaceIn(bytes, own, path);
    const diff = compactDiff(bytes.toString(), after.toString(), { context: 0, maxLines: maxDiffLines });
    if (!after.equals(bytes)) files.push({ path, version, after, edits: own.length, diff });
  }
  return { files, moves: [] };
}

function replaceIn(bytes: Buffer, matches: readonly PatternMatch[], path: string): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { range, text, replacement, at: position } of matches.toSorted((a, b) => a.range.start - b.range.start)) {
    if (!bytes.subarray(range.start, range.end).equals(Buffer.from(text))) throw stale(path);
    const { start, end, text: written } = replacement ?? { ...range, text };
    if (start < at) throw refused(`two matches overlap at ${path}:${position.line}; use a narrower pattern`);
    parts.push(bytes.subarray(at, start), Buffer.from(written));
    at = end;
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}

function refused(why: string): AppError {
  return new AppError('E_INVALID_INPUT', `nothing was changed: ${why}`);
}

function stale(path: string): AppError {
  return new AppError('E_STALE', `nothing was changed: ${path} changed after it was searched`, {
    details: { path },
    hint: 'Make the call again without apply, and review the new diff.',
  });
}
