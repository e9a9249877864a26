import type { ToolResult } from './tool.ts';

/**
 * Adds notices to a result. Some clients show the model only the text, others only the structured content, so
 * `writeNotices` writes them to both.
 */
export function addNotices(result: ToolResult, notices: readonly string[]): ToolResult {
  return notices.length === 0 ? result : { ...result, notices: [...(result.notices ?? []), ...notices] };
}

/**
 * Writes the notices to both channels. Replaces an empty text by a sentence, because some models refuse an empty text.
 */
export function writeNotices({ notices = [], ...result }: ToolResult): ToolResult {
  const parts = [result.text, ...notices].filter((part) => part.trim() !== '');
  const text = parts.length === 0 ? 'Done. There is nothing to show.' : parts.reduce(joinParagraphs);
  if (notices.length === 0) return { ...result, text };
  const lines = notices.map((notice) => notice.trimEnd());
  return { ...result, text, structured: { ...result.structured, notices: lines } };
}

/** Adds notices to a result that `writeNotices` has already processed. */
export function withNotices(result: ToolResult, more: readonly string[]): ToolResult {
  if (more.length === 0) return result;
  const { notices } = result.structured;
  const before = Array.isArray(notices) ? notices : [];
  const text = [result.text, ...more].reduce(joinParagraphs);
  return { ...result, text, structured: { ...result.structured, notices: [...before, ...more] } };
}

/** Joins two paragraphs with an empty line, whether or not the first ends with a line feed. */
function joinParagraphs(before: string, after: string): string {
  return `${before}${before.endsWith('\n') ? '\n' : '\n\n'}${after}`;
}
