import { findNearest } from '../arguments/nearest-name.ts';
import { type Toolset, toolsets } from './toolsets.ts';

/** Every tool, all of them listed. */
const everyTool = 'all';
/** Every tool; the everyday ones are listed. */
const everydayTools = 'default';

export interface SelectableTool {
  readonly name: string;
  readonly toolset: Toolset;
  /** See `ToolDefinition`. */
  readonly isEveryday?: true | undefined;
}

/**
 * Two different questions about a tool. A tool that is not allowed can be neither listed nor called. An allowed tool
 * that is not listed can be called, by its name or through `tools`.
 */
interface ToolSelection {
  isAllowed(tool: SelectableTool): boolean;
  /** Whether clients list the tool up front. Only asked about allowed tools. */
  isListed(tool: SelectableTool): boolean;
}

/**
 * Selects tools by the names of toolsets and tools. Named tools are listed, and no others are allowed, unless `default`
 * is among the names.
 */
export function selectTools(names: readonly string[] = [everydayTools]): ToolSelection {
  const chosen = new Set(names);
  const isOpen = chosen.has(everydayTools) || chosen.has(everyTool);
  const isNamed = ({ name, toolset }: SelectableTool) =>
    chosen.has(everyTool) || chosen.has(toolset) || chosen.has(name);
  return {
    isAllowed: (tool) => isOpen || isNamed(tool) || tool.toolset === 'session',
    isListed: (tool) => !isOpen || isNamed(tool) || tool.isEveryday === true,
  };
}

/** Returns what is wrong with the first name that is neither a tool nor a toolset, if there is one. */
export function findUnknownTool(names: readonly string[], tools: readonly string[]): string | undefined {
  const known = [everyTool, everydayTools, ...Object.keys(toolsets), ...tools];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const sets = [everyTool, everydayTools, ...Object.keys(toolsets)].join(', ');
  const shown = JSON.stringify(unknown.slice(0, 60));
  return `there is no tool or toolset ${shown}; the nearest is ${findNearest(unknown, known)}. Toolsets: ${sets}`;
}

/** Whether somebody who had the first selection may have lost a tool by the second. In doubt: yes. */
export function isNarrower(before: readonly string[] | undefined, after: readonly string[] | undefined): boolean {
  const isOpen = (names: readonly string[] = [everydayTools]) =>
    names.includes(everyTool) || names.includes(everydayTools);
  if (isOpen(after)) return false;
  return isOpen(before) || !before?.every((name) => after?.includes(name));
}
