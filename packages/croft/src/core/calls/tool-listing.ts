import type { Tool } from '../tools/tool.ts';
import type { WorkspaceSet } from '../workspace/workspace-set.ts';
import { describeTool, type ToolDescription } from './describe-tool.ts';
import { createUnlistedTools, type UnlistedTools } from './unlisted-tools.ts';

export interface ToolListingOptions {
  readonly workspaces: WorkspaceSet;
  /** Whether clients list a tool of the toolbox up front. The others are called by name, or through `tools`. */
  isListed(tool: Tool): boolean;
}

/** Describes the tools of a toolbox, and adds `tools` to them if there are some that clients do not list. */
export function createToolListing(included: readonly Tool[], options: ToolListingOptions) {
  const unlisted = included.filter((tool) => !options.isListed(tool));
  const listed = included.filter(options.isListed);
  const find = (name: string) => describe().find((one) => one.name === name);
  const more = unlisted.length === 0 ? undefined : createUnlistedTools({ listed, unlisted, describe: find });
  const present = more ? [...included, more.tool] : included;
  const describe = createDescriptions(present, options, more);
  return { present, describe, more };
}

/** Caches the descriptions. They contain the names of the workspaces, so they are made again when those change. */
function createDescriptions(
  tools: readonly Tool[],
  { workspaces, isListed }: ToolListingOptions,
  more: UnlistedTools | undefined,
): () => readonly ToolDescription[] {
  let [known, descriptions]: [string | undefined, readonly ToolDescription[]] = [undefined, []];
  const describe = (tool: Tool): ToolDescription =>
    tool === more?.tool
      ? { ...describeTool(tool, workspaces, true), access: more.access }
      : describeTool(tool, workspaces, isListed(tool));
  return () => {
    const names = workspaces.names.join('\n');
    if (names !== known) descriptions = tools.map(describe);
    known = names;
    return descriptions;
  };
}
