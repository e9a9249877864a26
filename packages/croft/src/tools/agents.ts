import { z } from 'zod';
import { type FoundAgent, findAgents } from '../core/skills/find-skills.ts';
import { loadAgent } from '../core/skills/load-skill.ts';
import { agentDirectories } from '../core/skills/skill-directories.ts';
import { defineTool, type ToolResult } from '../core/tools/tool.ts';
import type { Workspace } from '../core/workspace/workspace.ts';

const agentOutput = z.object({
  name: z.string(),
  description: z.string(),
  path: z.string(),
  source: z.string(),
  tools: z.string().optional(),
  model: z.string().optional(),
});

const output = z.object({
  agents: z.array(agentOutput),
  shadowed: z.array(agentOutput).describe('Not used: another agent of the same name comes first'),
  truncated: z.boolean(),
  content: z.string().optional().describe('The whole definition, when one was asked for by name'),
  nextLine: z.int().optional().describe('Where to read on, when the definition was too long to be loaded whole'),
});

export const agents = defineTool({
  name: 'agents',
  title: 'List sub-agents',
  description: 'List the sub-agents that the workspace defines, or load the whole definition of one by its name.',
  toolset: 'skills',
  access: 'read',
  reach: 'one-or-all',
  input: z.object({
    name: z.string().trim().min(1).max(200).optional().describe('The one to load; all are listed if left out'),
  }),
  output,
  run: async ({ name }, { workspace }) => (name === undefined ? listAll(workspace) : loadOne(workspace, name)),
});

type Answer = ToolResult<z.input<typeof output>>;

async function listAll({ files }: Workspace): Promise<Answer> {
  const { items, shadowed, cut } = await findAgents(files);
  const lines = [
    ...(items.length === 0 ? [`no agents; they would be in ${agentDirectories.join(', ')}`] : items.map(toText)),
    ...shadowed.map((agent) => `(${agent.path} is not used: there is another ${agent.name} before it)`),
    ...(cut ? ['(there are more; list the directories)'] : []),
  ];
  return {
    text: `${lines.join('\n')}\n`,
    structured: { agents: [...items], shadowed: [...shadowed], truncated: cut },
  };
}

async function loadOne({ files }: Workspace, name: string): Promise<Answer> {
  const { content, nextLine, ...agent } = await loadAgent(files, name);
  const note = nextLine === undefined ? '' : `\n(${agent.path} goes on: read it from offset ${nextLine})\n`;
  return {
    text: `${content}${note}`,
    structured: {
      agents: [agent],
      shadowed: [],
      truncated: false,
      content,
      ...(nextLine !== undefined && { nextLine }),
    },
  };
}

function toText({ name, description, path, tools, model }: FoundAgent): string {
  const traits = [...(model ? [`model: ${model}`] : []), ...(tools ? [`tools: ${tools}`] : [])].join('; ');
  return [`${name}\t${path}`, ...[description, traits].filter((line) => line !== '').map((line) => `  ${line}`)].join(
    '\n',
  );
}
