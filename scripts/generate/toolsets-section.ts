import type { ToolDescription } from '../../packages/croft/src/core/calls/describe-tool.ts';
import { toolsets } from '../../packages/croft/src/core/toolsets/toolsets.ts';
import { toMcpTool } from '../../packages/croft/src/mcp/to-mcp-tool.ts';
import { table } from './markdown-table.ts';

/** A rule of thumb for JSON. Each model counts in its own way. */
const bytesPerToken = 4;

/** Lists the toolsets, how to choose among them, and how much listing them costs. */
export function toToolsetsSection(described: readonly ToolDescription[]): string {
  const own = described.filter(({ name }) => name !== 'tools');
  const listed = described.filter(({ isListed }) => isListed);
  const rows = Object.entries(toolsets).map(([toolset, about]) => {
    const tools = own.filter((tool) => tool.toolset === toolset);
    return [`\`${toolset}\``, about, ...toCost(tools)];
  });
  const sums = [
    ['`default`', 'the everyday tools, and `tools`', ...toCost(listed)],
    ['`all`', 'every tool', ...toCost(own)],
  ];
  const costs = table(['`--tools`', 'has', 'tools', 'bytes', 'tokens, about'], [...rows, ...sums]);
  return `## Toolsets\n\n${about}\n\n${costs}\n${aboutCosts}\n`;
}

function toCost(tools: readonly ToolDescription[]): string[] {
  const bytes = tools.reduce((sum, tool) => sum + Buffer.byteLength(JSON.stringify(toMcpTool(tool))), 0);
  return [tools.length, bytes, Math.round(bytes / bytesPerToken)].map(String);
}

const about = `A client pays for every listed tool in each conversation, and some clients warn above 40 tools. So Croft lists the everyday
tools, and one more, \`tools\`, which has the others:

- \`tools {}\` lists them, \`tools {"name": "snapshot_create"}\` says what one takes, and
  \`tools {"name": "snapshot_create", "arguments": {"name": "before"}}\` calls it. Such a call is the call of \`snapshot_create\` in
  every respect: access, approval, audit and events are those of \`snapshot_create\`.
- A client that can call tools it does not list calls them by their names. REST, the SDK and \`croft tool\` list and call all of them.
- \`tools\` does not call listed tools, so that a rule of your client about \`bash\` still covers every \`bash\`. A rule of your client
  that always allows \`tools\` allows every tool that is not listed.

\`--tools LIST\` (\`config.tools\` of an agent's record) takes names of toolsets and tools:

- \`--tools files,search,run_tests\`: the agent has these tools, all listed, and no others: the others cannot be called by any name.
  The toolset \`session\` is always there.
- \`--tools default,diagrams\`: the agent has every tool; the everyday ones and those of \`diagrams\` are listed.
- \`--tools all\`: the agent has every tool, and all are listed.
- Left out: \`default\`.

Which tools an agent has also depends on \`--readonly\` and on its workspaces: \`--tools\` adds none.`;

const aboutCosts =
  'Bytes of the listing over MCP, output schemas included; a token is counted as 4 bytes. Tools of MCP servers (`mcp`) cost what their ' +
  'servers announce. Over MCP, output schemas have only the outer fields that are always there; REST lists whole schemas.';
