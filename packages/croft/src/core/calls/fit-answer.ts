import { endOfLines, maxAnswerLines, startOfLines } from '../answers/answer-line-limits.ts';
import type { AnswerPages } from '../answers/answer-pages.ts';
import { toLineEnd } from '../answers/answer-pages.ts';
import { endIndexWithin, jsonBytes, startIndexWithin } from '../answers/json-size.ts';
import { shrinkJson } from '../answers/shrink-json.ts';
import type { ToolResult } from '../tools/tool.ts';

interface FitOptions {
  /** Most bytes of the text, and of the structured content, each as JSON. */
  readonly maxBytes: number;
  /** Stores the whole text for `next_page`. Absent: `next_page` is not available. */
  readonly pages?: AnswerPages | undefined;
}

/** Space for the note about the omitted part. */
const noteBytes = 300;

/**
 * Shortens an answer so that no client cuts it: clients cut at 10 to 50 kB or 2000 lines, each in its own way, and do
 * not say how to continue. Both channels keep the beginning and the end, which say most, and name the cursor for the
 * rest.
 */
export function fitAnswer(result: ToolResult, { maxBytes, pages }: FitOptions): ToolResult {
  const { text, structured } = result;
  const isTextLong = jsonBytes(text) > maxBytes || endOfLines(text, 0, maxAnswerLines) < text.length;
  const isStructureLong = jsonBytes(structured) > maxBytes;
  if (!isTextLong && !isStructureLong) return result;
  const toCursor = pages?.store(text);
  const budget = maxBytes - noteBytes;
  return {
    ...result,
    text: isTextLong ? cutMiddle(text, budget, toCursor) : text,
    structured: {
      ...(isStructureLong ? shrinkJson(structured, budget) : structured),
      ...(toCursor && { nextCursor: toCursor(0, text.length) }),
    },
  };
}

/** Keeps two thirds from the beginning and one third from the end, where commands say how they ended. */
function cutMiddle(text: string, maxBytes: number, toCursor?: (from: number, to: number) => string): string {
  const [headLines, tailLines] = [Math.floor((maxAnswerLines * 2) / 3), Math.floor(maxAnswerLines / 3)];
  const headEnd = Math.min(endIndexWithin(text, 0, Math.floor((maxBytes * 2) / 3)), endOfLines(text, 0, headLines));
  const tailStart = Math.max(startIndexWithin(text, Math.floor(maxBytes / 3)), startOfLines(text, tailLines));
  const end = toLineEnd(text, 0, headEnd);
  const start = Math.max(end, toLineStart(text, tailStart));
  const how = toCursor ? `call next_page with cursor "${toCursor(end, start)}" to see them` : 'narrow the call';
  const head = text.slice(0, end);
  const note = `… (${start - end} characters are left out here; ${how})`;
  return `${head}${head.endsWith('\n') ? '' : '\n'}${note}\n${text.slice(start)}`;
}

function toLineStart(text: string, start: number): number {
  const at = text.indexOf('\n', start) + 1;
  return at > 0 && at < start + (text.length - start) / 2 ? at : start;
}
