import { AppError } from '@croft/protocol';
import { takeSandboxDenials } from '../core/commands/denials/sandbox-denials.ts';
import type { Image, ToolContext, ToolResult } from '../core/tools/tool.ts';
import { cutText } from '../lib/text/cut-text.ts';
import { stripControlSequences } from '../lib/text/strip-control-sequences.ts';
import { cleanObject, isObject, type JsonRecord } from './clean-json.ts';
import type { createServerSelection } from './select-servers.ts';
import type { ServerPool } from './server-pool.ts';

interface InnerCall {
  readonly server: string;
  readonly tool: string;
  readonly input: JsonRecord;
  readonly timeoutMs: number;
}

interface CallerDependencies {
  readonly pool: ServerPool;
  readonly selection: ReturnType<typeof createServerSelection>;
}

/** Added to the client's timeout, so that the toolbox's own deadline always ends the call first. */
const laterMs = 10_000;

/**
 * Runs an approved call with the server's definition as it is now: the server may have been removed while a person
 * decided.
 */
export function createInnerToolCaller({ pool, selection }: CallerDependencies) {
  return async ({ server: name, tool, input, timeoutMs }: InnerCall, context: ToolContext): Promise<ToolResult> => {
    const { workspace, session, signal, secrets, reportDenials } = context;
    const server = await selection.find(workspace, name);
    if (!server) throw new AppError('E_UNKNOWN_TOOL', `the workspace ${workspace.name} has no MCP server ${name}`);
    return pool.use({ name, server, workspace, session }, async (running, sandbox) => {
      try {
        const answer = await running.call(tool, input, { signal, timeoutMs: timeoutMs + laterMs });
        return toToolResult(answer, `the tool ${tool} of the MCP server ${name} failed without a message`);
      } finally {
        reportDenials(takeSandboxDenials(sandbox, undefined, secrets.redact));
      }
    });
  };
}

const maxBlocks = 1000;
const maxErrorChars = 100_000;
const maxImageChars = 3 * 1024 * 1024;
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/**
 * Converts a server's answer into a `ToolResult`. Throws `E_MCP_TOOL` if the server marks the answer as an error, with
 * `silentFailure` if the answer has no text.
 */
function toToolResult({ content, structuredContent, isError }: JsonRecord, silentFailure: string): ToolResult {
  const blocks = (Array.isArray(content) ? content : []).filter(isObject);
  const image = blocks.map(toImage).find((found) => found !== undefined);
  const texts = blocks.slice(0, maxBlocks).map((block) => toText(block, image));
  if (blocks.length > maxBlocks) texts.push(`(${blocks.length - maxBlocks} more parts are left out)`);
  const text = texts.filter((part) => part !== '').join('\n');
  if (isError === true) throw new AppError('E_MCP_TOOL', cutText(text, maxErrorChars) || silentFailure);
  const structured = cleanObject(structuredContent, stripControlSequences) ?? { text };
  return { text, structured, ...(image && { image }) };
}

function toText(block: JsonRecord, shown: Image | undefined): string {
  if (typeof block.text === 'string') return stripControlSequences(block.text);
  if (block.type === 'image') return block.data === shown?.data ? '' : '(an image that is not shown here)';
  if (block.type === 'resource' && isObject(block.resource))
    return toText({ ...block.resource, type: 'content' }, shown);
  if (block.type === 'resource_link' && typeof block.uri === 'string')
    return stripControlSequences(cutText(block.uri, 2000));
  return `(a part of a kind that is not shown here)`;
}

function toImage({ type, data, mimeType }: JsonRecord): Image | undefined {
  if (type !== 'image' || typeof data !== 'string' || typeof mimeType !== 'string') return undefined;
  if (!imageTypes.has(mimeType) || data.length > maxImageChars || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    return undefined;
  return { data, mimeType };
}
