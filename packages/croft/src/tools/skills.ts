import { z } from 'zod';
import { type FoundSkill, findSkills } from '../core/skills/find-skills.ts';
import { skillDirectories } from '../core/skills/skill-directories.ts';
import { defineTool } from '../core/tools/tool.ts';

const skillOutput = z.object({ name: z.string(), description: z.string(), path: z.string(), source: z.string() });

export const skills = defineTool({
  name: 'skills',
  title: 'List skills',
  description:
    'List the skills of the workspace: instructions, often with scripts, for particular kinds of work. ' +
    'Look here before such work, and load the one that fits with skill.',
  toolset: 'skills',
  access: 'read',
  reach: 'one-or-all',
  input: z.object({}),
  output: z.object({
    skills: z.array(skillOutput),
    shadowed: z.array(skillOutput).describe('Not used: another skill of the same name comes first'),
    truncated: z.boolean(),
  }),
  async run(_, { workspace }) {
    const { items, shadowed, cut } = await findSkills(workspace.files);
    const lines = [
      ...(items.length === 0 ? [`no skills; they would be in ${skillDirectories.join(', ')}`] : items.map(toText)),
      ...shadowed.map((skill) => `(${skill.path} is not used: there is another ${skill.name} before it)`),
      ...(cut ? ['(there are more; load one by the name of its directory)'] : []),
    ];
    return {
      text: `${lines.join('\n')}\n`,
      structured: { skills: [...items], shadowed: [...shadowed], truncated: cut },
    };
  },
});

function toText({ name, description, path }: FoundSkill): string {
  return `${name}\t${path}${description === '' ? '' : `\n  ${description}`}`;
}
