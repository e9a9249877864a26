import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import type { ConfigEntry } from './edit-json-config.ts';

type Table = Record<string, unknown>;

/**
 * Sets one entry of a table of servers in TOML. No package edits TOML and keeps its comments, so the section of the entry
 * is replaced as text, and the result is parsed again: it must be the old document with this entry, and nothing else.
 */
export function editTomlConfig(text: string, { table, name, value: entry }: ConfigEntry): string {
  const before = parse(text) as Table;
  const servers = (before[table] ?? {}) as Table;
  if (isDeepStrictEqual(servers[name], entry)) return text;
  const edited = replaceSection(text, `[${table}.${name}]`, stringify({ [table]: { [name]: entry } }));
  const expected = { ...before, [table]: { ...servers, [name]: entry } };
  if (!isDeepStrictEqual(plain(parse(edited)), plain(expected)))
    throw new Error(`the entry "${name}" is written in a way that is not understood; remove it, then run this again`);
  return edited;
}

/** Replaces from the header to the next header, without the comments that stand before that one. */
function replaceSection(text: string, header: string, section: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.trim().replace(/\s*#.*$/, '') === header);
  const own = section.trimEnd().split('\n');
  if (start < 0) {
    const gap = text.trim() === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    return `${text}${gap}${own.join('\n')}\n`;
  }
  const next = lines.findIndex((line, index) => index > start && /^\s*\[/.test(line));
  let end = next < 0 ? lines.length : next;
  while (end > start + 1 && /^\s*(?:#.*)?$/.test(lines[end - 1] ?? '')) end--;
  return [...lines.slice(0, start), ...own, ...lines.slice(end)].join('\n');
}

/** Tables of the parser have no prototype, which `isDeepStrictEqual` counts as a difference. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
