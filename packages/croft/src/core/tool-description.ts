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
    inputSchema: describeInputSchema(tool, workspaces),
    outputSchema: toJsonSchema(describeOutput(tool), 'output'),
    idempotent: tool.idempotent ?? tool.access === 'read',
  };
}

function describeInputSchema(tool: Tool, workspaces: WorkspaceSet): JsonSchema {
  const schema = toJsonSchema(describeInput(tool, workspaces), 'input');
  if (!tool.inputSchema || tool.home !== undefined) return tool.inputSchema ?? schema;
  const properties = { ...toObject(tool.inputSchema.properties), ...toObject(schema.properties) };
  return { ...tool.inputSchema, properties };
}

function toObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function describeInput(tool: Tool, { names, list, fallback, fallbackName }: WorkspaceSet): z.ZodObject {
  if (tool.reach === 'none') return tool.input;
  if (fallback === 'first')
    return describeChoice(
      tool,
      list().map(({ name }) => name),
    );
  const all = tool.reach === 'one-or-all' && names.length > 1 ? ', or all for every one' : '';
  const known = fallbackName();
  const need = known === undefined ? 'Required' : `${known} if left out`;
  const choice = names.length > 1 ? ` ${need}; one of ${names.join(', ')}${all}.` : '';
  return tool.input.extend({ workspace: z.string().optional().describe(`Workspace to work in.${choice}`) });
}

/** With one workspace there is nothing to choose. */
function describeChoice(tool: Tool, names: readonly string[]): z.ZodObject {
  const [first] = names;
  if (first === undefined || names.length === 1) return tool.input;
  const workspace = z.enum(names).optional().describe(`Workspace to work in; ${first} if left out.`);
  return tool.input.extend({ workspace });
}

function describeOutput(tool: Tool): z.ZodType {
  return tool.reach === 'one-or-all' ? z.union([tool.output, fanOutOutput(tool.output)]) : tool.output;
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...body } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  // A union has no type of its own, and clients of 2025 take nothing but an object.
  return { type: 'object', ...body };
}
