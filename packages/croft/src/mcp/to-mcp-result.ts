import type { AppError } from '@croft/protocol';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { shrinkJson } from '../core/answers/shrink-json.ts';
import type { ToolResult } from '../core/tools/tool.ts';

/** Limit for the text, and for the structured content: clients cut longer ones at 10 to 50 kB, each in its own way. */
export const maxAnswerBytes = 38_000;

/**
 * The `_meta` key under which programs find the error. Clients compare `structuredContent` with the declared output
 * schema even for errors, and show their own complaint if it does not match; no client checks `_meta`.
 */
const errorMetaKey = 'croft/error';

/**
 * An image comes without `structuredContent`, because some clients show the model only that and would lose the image.
 * Such a tool declares no output schema, see `ToolDefinition.answersImages`.
 */
export function toResult({ text, structured, image }: ToolResult): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  return image
    ? { content: [...content, { type: 'image', ...image }] }
    : { content, structuredContent: { ...structured } };
}

/**
 * The text contains everything, because some models see nothing else: what happened, what to do next, and the code.
 * Errors with fixed texts, which callers compare, get no code appended. A text that is too long is cut in the middle.
 */
export function toErrorResult(error: AppError): CallToolResult {
  const text = error.traits.plain ? error.text : `${error.text}\nCode: ${error.code}`;
  const shown = shrinkJson(text, maxAnswerBytes);
  return {
    isError: true,
    content: [{ type: 'text', text: shown }],
    _meta: { [errorMetaKey]: shrinkJson(error.toJSON(), maxAnswerBytes) },
  };
}
