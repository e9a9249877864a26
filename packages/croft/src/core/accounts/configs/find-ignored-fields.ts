import { z } from 'zod';

/** What of a JSON schema tells which fields an object takes. */
interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: unknown;
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly oneOf?: readonly FieldSchema[];
  readonly allOf?: readonly FieldSchema[];
}

/** So many names say enough. */
const maxNamed = 20;

/**
 * Creates a search for the fields of a body that its schema drops: `config.networks` beside `config.network`. Fields that
 * a schema keeps though it does not know them, such as a caller's own settings of an agent, are not among them.
 */
export function createIgnoredFieldsFinder(schema: z.ZodType): (body: unknown) => string[] {
  let fields: FieldSchema | undefined;
  return (body) => {
    fields ??= z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as FieldSchema;
    return findIgnored(body, [fields], '').slice(0, maxNamed);
  };
}

function findIgnored(value: unknown, schemas: readonly FieldSchema[], path: string): string[] {
  const all = schemas.flatMap(alternatives);
  if (Array.isArray(value)) {
    const items = all.flatMap((schema) => schema.items ?? []);
    return value.flatMap((item, index) => findIgnored(item, items, `${path}[${index}]`));
  }
  const objects = all.filter((schema) => schema.properties);
  if (typeof value !== 'object' || value === null || objects.length === 0) return [];
  const keepsOthers = all.some(({ additionalProperties }) => additionalProperties !== undefined);
  return Object.entries(value).flatMap(([name, field]) => {
    const known = objects.flatMap(({ properties }) =>
      Object.hasOwn(properties ?? {}, name) ? [properties?.[name]] : [],
    );
    const at = path === '' ? name : `${path}.${name}`;
    if (known.length > 0) return findIgnored(field, known as FieldSchema[], at);
    return keepsOthers ? [] : [at.slice(0, 100)];
  });
}

/** A schema and everything that it is put together from. */
function alternatives(schema: FieldSchema): FieldSchema[] {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...parts.flatMap(alternatives)];
}
