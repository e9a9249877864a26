import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { Tool, ToolContext, ToolResult } from '../core/tool.ts';
import type { AnnouncedTool } from './announced-tools.ts';
import { isObject, type JsonObject } from './clean.ts';

export interface InnerToolOptions {
  readonly server: string;
  readonly announced: AnnouncedTool;
  readonly timeoutMs: number;
  /** Where it works if `workspace` is an argument of its own. */
  readonly home: string;
  call(input: JsonObject, context: ToolContext): Promise<ToolResult>;
}

export const prefix = 'mcp__';
const maxInputChars = 1024 * 1024;

/** A tool of a server as any other: what it takes is shown as the server says it, and judged by the server. */
export function toInnerTool(options: InnerToolOptions): Tool {
  const { server, announced, timeoutMs, home, call } = options;
  const { properties } = announced.inputSchema;
  const isOwnArgument = isObject(properties) && Object.hasOwn(properties, 'workspace');
  return {
    name: toName(server, announced.name),
    title: announced.title,
    description: `${announced.description}\n(A tool of the MCP server ${server}, which runs in the sandbox.)`.trim(),
    ...{ access: 'execute', reach: 'one', timeoutMs, idempotent: false },
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

export function toName(server: string, tool: string): string {
  return `${prefix}${server}__${tool}`;
}

/** The first `__` is where a server's name ends: none has one. */
export function readName(name: string): { server: string; tool: string } | undefined {
  const [, server, tool] = /^mcp__([a-z0-9](?:(?!__)[a-z0-9_-])*)__([A-Za-z0-9_-]{1,64})$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? undefined : { server, tool };
}

/** `workspace` says where to work, and is not for the server unless it asks for it. */
function toInput(rawInput: unknown, isOwnArgument: boolean): JsonObject {
  const given = rawInput ?? {};
  if (!isObject(given)) throw new AppError('E_INVALID_INPUT', 'input is not valid: expected object');
  const { workspace: _, ...rest } = given;
  const input = isOwnArgument ? given : rest;
  const length = JSON.stringify(input).length;
  if (length <= maxInputChars) return input;
  throw new AppError('E_INVALID_INPUT', `input is ${length} characters of JSON; at most ${maxInputChars} are sent`);
}
