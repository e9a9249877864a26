import { z } from 'zod';
import { answerOutput, pageOutput } from '../answers/answer-output.ts';
import type { Tool, ToolAccess } from '../tools/tool.ts';
import type { WorkspaceSet } from '../workspace/workspace-set.ts';
import { fanOutOutput } from './fan-out.ts';

type JsonSchema = Record<string, unknown>;

/** A tool as REST and MCP list it. Cannot be run. */
export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly access: ToolAccess;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly idempotent: boolean;
  /** See `ToolDefinition.answersImages`. */
  readonly answersImages?: true;
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
    ...(tool.answersImages && { answersImages: true }),
  };
}

function describeInputSchema(tool: Tool, workspaces: WorkspaceSet): JsonSchema {
  // Strict, so that callers see that no other argument is accepted: `core/arguments` refuses unknown ones.
  const schema = toJsonSchema(describeInput(tool, workspaces).strict(), 'input');
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
  const need = known !== undefined ? `${known} if left out` : tool.workspaceOf ? 'Known without it' : 'Required';
  const choice = names.length > 1 ? ` ${need}; one of ${names.join(', ')}${all}.` : '';
  return tool.input.extend({ workspace: z.string().optional().describe(`Workspace to work in.${choice}`) });
}

/** With one workspace there is no `workspace` argument. */
function describeChoice(tool: Tool, names: readonly string[]): z.ZodObject {
  const [first] = names;
  if (first === undefined || names.length === 1) return tool.input;
  const workspace = z.enum(names).optional().describe(`Workspace to work in; ${first} if left out.`);
  return tool.input.extend({ workspace });
}

/** Includes the fields that the toolbox may add to any answer. */
function describeOutput(tool: Tool): z.ZodType {
  const one = tool.output.extend(answerOutput);
  const single = one.extend(pageOutput);
  return tool.reach === 'one-or-all' ? z.union([single, fanOutOutput(one).extend(pageOutput)]) : single;
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...body } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  // The schema of a union has no `type`, and clients of the 2025 protocol accept only `object`.
  return { type: 'object', ...body };
}
