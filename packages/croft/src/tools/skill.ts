import { z } from 'zod';
import { type LoadedSkill, loadSkill } from '../core/skills/load-skill.ts';
import { defineTool } from '../core/tools/tool.ts';

export const skill = defineTool({
  name: 'skill',
  aliases: ['Skill'],
  spellings: { aliases: { skill: 'name' } },
  title: 'Load a skill',
  description: 'Load one skill of the workspace: its instructions, and which files come with them to read or to run.',
  toolset: 'skills',
  access: 'read',
  reach: 'one-or-all',
  input: z.object({ name: z.string().trim().min(1).max(200).describe('As skills lists it') }),
  output: z.object({
    name: z.string(),
    description: z.string(),
    path: z.string(),
    source: z.string(),
    content: z.string(),
    nextLine: z.int().optional().describe('Where to read on, when the text was too long to be loaded whole'),
    files: z.array(z.object({ path: z.string(), size: z.int(), isExecutable: z.boolean() })),
    filesCut: z.boolean(),
  }),
  async run({ name }, { workspace }) {
    const loaded = await loadSkill(workspace.files, name);
    return { text: render(loaded), structured: { ...loaded, files: [...loaded.files] } };
  },
});

function render({ path, content, nextLine, files, filesCut }: LoadedSkill): string {
  const parts = [
    content.trimEnd(),
    ...(nextLine === undefined ? [] : [`(${path} goes on: read it from offset ${nextLine})`]),
    ...(files.length === 0
      ? []
      : [`Files of this skill, by their paths in the workspace:\n${files.map(toLine).join('\n')}`]),
    ...(filesCut ? ['(there are more files; list the directory)'] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function toLine({ path, size, isExecutable }: LoadedSkill['files'][number]): string {
  return `${path}\t${size}${isExecutable ? '\texecutable' : ''}`;
}
