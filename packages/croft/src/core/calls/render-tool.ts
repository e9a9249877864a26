import type { ToolDescription } from './describe-tool.ts';

interface Property {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
}

/** Writes a tool as a call: `name(required, optional?)`. */
export function renderSignature({ name, inputSchema }: ToolDescription): string {
  const required = requiredOf(inputSchema);
  const names = Object.keys(propertiesOf(inputSchema)).map((one) => (required.includes(one) ? one : `${one}?`));
  return `${name}(${names.join(', ')})`;
}

/** Writes one line for each argument. */
export function renderSchema(schema: Readonly<Record<string, unknown>>): string[] {
  const required = requiredOf(schema);
  return Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const { description, default: fallback } = property;
    const isNeeded = required.includes(name) ? ', required' : '';
    const otherwise = fallback === undefined || fallback === '' ? '' : ` (${JSON.stringify(fallback)})`;
    return `  ${name}: ${typeOf(property)}${isNeeded}${description === undefined ? '' : `. ${description}`}${otherwise}`;
  });
}

function typeOf({ type, enum: values }: Property): string {
  return values ? values.map((value) => JSON.stringify(value)).join(' or ') : String(type ?? 'any');
}

function propertiesOf({ properties }: Readonly<Record<string, unknown>>): Readonly<Record<string, Property>> {
  return typeof properties === 'object' && properties !== null ? (properties as Record<string, Property>) : {};
}

function requiredOf({ required }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(required) ? required : [];
}
