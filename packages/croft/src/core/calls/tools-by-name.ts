import type { Tool } from '../tools/tool.ts';

/** Finds tools by all of their names. */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  return new Map(tools.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])].map((name) => [name, tool])));
}
