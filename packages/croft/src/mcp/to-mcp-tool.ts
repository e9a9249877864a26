import type { ToolDescription } from '../core/calls/describe-tool.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A tool as `tools/list` answers it. */
export function toMcpTool({ access, idempotent, inputSchema, outputSchema, answersImages, ...rest }: ToolDescription) {
  return {
    name: rest.name,
    title: rest.title,
    description: rest.description,
    inputSchema: { ...inputSchema, type: 'object' as const },
    // An image comes without structured content, which would violate a declared output schema.
    ...(!answersImages && { outputSchema: toOuterSchema(outputSchema) }),
    annotations: {
      title: rest.title,
      readOnlyHint: access === 'read',
      destructiveHint: access !== 'read',
      idempotentHint: idempotent,
      openWorldHint: access === 'execute',
    },
  };
}

/**
 * Reduces the schema of an answer to the outer fields that are always there, and their types. Every client pays for the
 * listing in each conversation, and few show a model the schema of answers. REST lists the whole schema.
 */
function toOuterSchema({ anyOf, properties, required }: Schema): Schema & { readonly type: 'object' } {
  if (Array.isArray(anyOf)) return { type: 'object', anyOf: anyOf.map(toOuterSchema) };
  const names = (required ?? []) as readonly string[];
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>).filter(([name]) => names.includes(name));
  const outer = Object.fromEntries(fields.map(([name, field]) => [name, toOuterField(field)]));
  return { type: 'object', properties: outer, required };
}

function toOuterField({ type, enum: values }: Schema): Schema {
  return { ...(type !== undefined && { type }), ...(values !== undefined && { enum: values }) };
}
