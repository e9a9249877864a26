import type { PostEditResult } from '../checks/post-edit/post-edit-checks.ts';
import { addNotices } from '../tools/result-notices.ts';
import type { ToolResult } from '../tools/tool.ts';

/** Adds what formatters, linters and language servers said of an edit to the edit's own answer. */
export function addPostEditResult(result: ToolResult, effect: PostEditResult | undefined): ToolResult {
  if (!effect) return result;
  const { sections, notices, structured } = effect;
  const added = Object.keys(structured).length === 0 ? {} : { effects: structured };
  const text = [result.text, ...sections].join('\n\n');
  return addNotices({ ...result, text, structured: { ...result.structured, ...added } }, notices);
}
