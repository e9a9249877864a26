import { z } from 'zod';
import { answerOutput, pageOutput } from '../answers/answer-output.ts';
import type { Tool, ToolAccess } from '../tools/tool.ts';
import type { Toolset } from '../toolsets/toolsets.ts';
import type { WorkspaceSet } from '../workspace/workspace-set.ts';
import { fanOutOutput } from './fan-out.ts';

type JsonSchema = Record<string, unknown>;

/** A tool as REST and MCP list it. Cannot be run. */
export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  /** Whether clients list the tool up front. If not, it is called by its name, or through `tools`. */
  readonly isListed: boolean;
  readonly access: ToolAccess;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly idempotent: boolean;
  /** See `ToolDefinition.answersImages`. */
  readonly answersImages?: true;
}

export function describeTool(tool: Tool, workspaces: WorkspaceSet, isListed: boolean): ToolDescription {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    toolset: tool.toolset,
    isListed,
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
  const single = tool.output.extend({ ...answerOutput, ...pageOutput });
  return tool.reach === 'one-or-all' ? z.union([single, fanOutOutput.extend(pageOutput)]) : single;
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...body } = z.toJSONSchema(schema, {
    ...{ io, unrepresentable: 'any' },
    override: ({ jsonSchema }) => leaveOutNoise(jsonSchema, io),
  });
  // The schema of a union has no `type`, and clients of the 2025 protocol accept only `object`.
  return { type: 'object', ...body };
}

/**
 * Removes words that tell a reader nothing: every client pays for them in each conversation. Answers may have fields
 * that older clients do not know; inputs may not.
 */
function leaveOutNoise(schema: JsonSchema, io: 'input' | 'output'): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  delete schema.propertyNames;
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}
