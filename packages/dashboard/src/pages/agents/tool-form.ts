/** One argument of a tool, as a field of a form. */
export interface FormField {
  readonly name: string;
  readonly about: string;
  readonly isRequired: boolean;
  readonly type: 'text' | 'number' | 'boolean' | 'json';
  readonly choices?: readonly string[] | undefined;
  readonly isLong: boolean;
}

interface PropertySchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
}

const longNames = new Set(['content', 'command', 'old_string', 'new_string', 'pattern', 'code', 'text']);
const mostOptional = 6;

/** The needed arguments first, then some of the others. */
export function toFormFields(schema: Readonly<Record<string, unknown>>): FormField[] {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, PropertySchema>>;
  const required = new Set((schema.required ?? []) as readonly string[]);
  const fields = Object.entries(properties).map(([name, property]) => toField(name, property, required.has(name)));
  const optional = fields.filter(({ isRequired }) => !isRequired);
  return [...fields.filter(({ isRequired }) => isRequired), ...optional.slice(0, mostOptional)];
}

function toField(
  name: string,
  { type, description = '', enum: values }: PropertySchema,
  isRequired: boolean,
): FormField {
  const kinds = [type].flat();
  const fieldType = kinds.includes('boolean')
    ? 'boolean'
    : kinds.includes('integer') || kinds.includes('number')
      ? 'number'
      : kinds.includes('string') || kinds[0] === undefined
        ? 'text'
        : 'json';
  const choices = fieldType === 'boolean' ? ['true', 'false'] : values?.map(String);
  return {
    name,
    about: description,
    isRequired,
    type: fieldType,
    choices,
    isLong: longNames.has(name) || fieldType === 'json',
  };
}

/** The arguments of the call. An empty field is left out. Text that should be JSON and is not is sent as it is. */
export function toInput(
  fields: readonly FormField[],
  values: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ name, type }) => {
      const text = values[name] ?? '';
      return text === '' ? [] : [[name, type === 'text' ? text : parseOrKeep(text)]];
    }),
  );
}

function parseOrKeep(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
