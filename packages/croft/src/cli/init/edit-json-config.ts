import { type JSONPath, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import type { ConfigInput } from './mcp-client.ts';

export interface ConfigEntry {
  /** The key of the table of servers. */
  readonly table: string;
  readonly name: string;
  readonly value: object;
  readonly inputs: readonly ConfigInput[];
}

/**
 * Sets one entry of a table of servers in JSON with comments. Every other byte stays. Throws if the file does not hold
 * an object.
 */
export function editJsonConfig(text: string, { table, name, value, inputs }: ConfigEntry): string {
  const before = parseObject(text);
  const servers = before[table];
  if (servers !== undefined && !isObject(servers)) throw new Error(`"${table}" is no JSON object`);
  let edited = text.trim() === '' ? '{}\n' : text;
  if (!isEqual(servers?.[name], value)) edited = insert(edited, [table, name], value);
  for (const input of inputs.filter(({ id }) => !hasInput(before, id))) edited = insert(edited, ['inputs', -1], input);
  return edited;
}

function parseObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  const errors: ParseError[] = [];
  const parsed: unknown = parse(text, errors, { allowTrailingComma: true, disallowComments: false });
  const [error] = errors;
  if (error) throw new Error(`${printParseErrorCode(error.error)} at line ${lineOf(text, error.offset)}`);
  if (!isObject(parsed)) throw new Error('the file is no JSON object');
  return parsed;
}

function hasInput({ inputs }: Record<string, unknown>, id: string): boolean {
  if (inputs !== undefined && !Array.isArray(inputs)) throw new Error('"inputs" is no JSON array');
  return inputs?.some((input: unknown) => isObject(input) && input.id === id) ?? false;
}

/** Inserts the entry before the existing ones, so that a comment after the last one stays with that one. */
function insert(text: string, path: JSONPath, value: object): string {
  const options = { getInsertionIndex: () => 0, isArrayInsertion: path.at(-1) === -1 };
  const [edit] = modify(text, path, value, options);
  if (edit === undefined) return text;
  const [head, tail] = [text.slice(0, edit.offset), text.slice(edit.offset + edit.length)];
  return `${head}${layOut(edit.content, head, tail)}${tail}`;
}

/** The package formats the lines around a change too. This gives only the new value lines of its own. */
function layOut(content: string, head: string, tail: string): string {
  const eol = head.includes('\r\n') || tail.includes('\r\n') ? '\r\n' : '\n';
  const unit = /^([ \t]+)["/]/m.exec(head + tail)?.[1] ?? '  ';
  const indent = `${eol}${unit.repeat(Math.max(1, countOpen(head)))}`;
  const [, key = '', json = ''] = /^("(?:[^"\\]|\\.)*":)?(.*?),?$/s.exec(content) ?? [];
  const shown = `${key}${key && ' '}${JSON.stringify(JSON.parse(json), null, unit).replaceAll('\n', indent)}`;
  if (content.endsWith(',')) return `${indent}${shown},${/^\s*?\n/.test(tail) ? '' : indent}`;
  return /[[{]\s*$/.test(head) ? `${indent}${shown}${indent.slice(0, -unit.length)}` : shown;
}

/** How many objects and arrays are open at the end of a text. */
function countOpen(head: string): number {
  const bare = head.replaceAll(/"(?:[^"\\]|\\.)*"|\/\/.*|\/\*[\s\S]*?\*\//g, '');
  return (bare.match(/[[{]/g)?.length ?? 0) - (bare.match(/[\]}]/g)?.length ?? 0);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
