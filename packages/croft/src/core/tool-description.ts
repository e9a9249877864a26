import { z } from 'zod';
import { fanOutOutput } from './fan-out.ts';
import type { Tool, ToolAccess } from './tool.ts';
import type { WorkspaceSet } from './workspace-set.ts';

type JsonSchema = Record<string, unknown>;

/** A tool as a face shows it. Cannot be run. */
export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly access: ToolAccess;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly idempotent: boolean;
}

export function describeTool(tool: Tool, workspaces: WorkspaceSet): ToolDescription {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    access: tool.access,
    inputSchema: toJsonSchema(describeInput(tool, workspaces), 'input'),
    outputSchema: toJsonSchema(describeOutput(tool), 'output'),
    idempotent: tool.idempotent ?? tool.access === 'read',
  };
}

function describeInput(tool: Tool, { names }: WorkspaceSet): z.ZodObject {
  if (tool.reach === 'none') return tool.input;
  const all = tool.reach === 'one-or-all' && names.length > 1 ? ', or all for every one' : '';
  const choice = names.length > 1 ? ` Required; one of ${names.join(', ')}${all}.` : '';
  return tool.input.extend({ workspace: z.string().optional().describe(`Workspace to work in.${choice}`) });
}

function describeOutput(tool: Tool): z.ZodType {
  return tool.reach === 'one-or-all' ? z.union([tool.output, fanOutOutput(tool.output)]) : tool.output;
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...body } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  // A union has no type of its own, and clients of 2025 take nothing but an object.
  return { type: 'object', ...body };
}
