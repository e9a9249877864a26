import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { Tool, ToolContext, ToolResult } from '../core/tools/tool.ts';
import type { AnnouncedTool } from './announced-tools.ts';
import { isObject, type JsonRecord } from './clean-json.ts';

interface InnerToolOptions {
  readonly server: string;
  readonly announced: AnnouncedTool;
  readonly timeoutMs: number;
  /** The workspace that the tool works in if the tool has an argument `workspace` of its own. */
  readonly home: string;
  call(input: JsonRecord, context: ToolContext): Promise<ToolResult>;
}

export const innerToolPrefix = 'mcp__';
const maxInputChars = 1024 * 1024;

/**
 * Makes a Croft tool of a server's tool. The input schema is shown as the server announces it, and the server validates
 * the input.
 */
export function toInnerTool(options: InnerToolOptions): Tool {
  const { server, announced, timeoutMs, home, call } = options;
  const { properties } = announced.inputSchema;
  const isOwnArgument = isObject(properties) && Object.hasOwn(properties, 'workspace');
  return {
    name: toInnerToolName(server, announced.name),
    title: announced.title,
    description: `${announced.description}\n(A tool of the MCP server ${server}, which runs in the sandbox.)`.trim(),
    ...{ toolset: 'mcp', access: 'execute', reach: 'one', timeoutMs, idempotent: false, answersImages: true },
    ...{ input: z.looseObject({}), output: z.looseObject({}), inputSchema: announced.inputSchema },
    ...(isOwnArgument && { home }),
    prepare(rawInput) {
      const input = toInput(rawInput, isOwnArgument);
      return {
        input,
        leavesRunning: false,
        preview: async () => `${announced.name} of the MCP server ${server}:\n${JSON.stringify(input, null, 2)}`,
        run: (context) => call(input, context),
      };
    },
  };
}

function toInnerToolName(server: string, tool: string): string {
  return `${innerToolPrefix}${server}__${tool}`;
}

/** The server's name ends at the first `__` after the prefix: no server name contains `__`. */
export function readInnerToolName(name: string): { server: string; tool: string } | undefined {
  const [, server, tool] = /^mcp__([a-z0-9](?:(?!__)[a-z0-9_-])*)__([A-Za-z0-9_-]{1,64})$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? undefined : { server, tool };
}

/**
 * Croft uses `workspace` to choose the workspace, and passes it on only if the server's own schema has that argument.
 */
function toInput(rawInput: unknown, isOwnArgument: boolean): JsonRecord {
  const given = rawInput ?? {};
  if (!isObject(given)) throw new AppError('E_INVALID_INPUT', 'input is not valid: expected object');
  const { workspace: _, ...rest } = given;
  const input = isOwnArgument ? given : rest;
  const length = JSON.stringify(input).length;
  if (length <= maxInputChars) return input;
  throw new AppError('E_INVALID_INPUT', `input is ${length} characters of JSON; at most ${maxInputChars} are sent`);
}
