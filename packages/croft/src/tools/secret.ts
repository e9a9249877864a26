import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';

export const secret = defineTool({
  name: 'secret',
  title: 'Whether a secret is there',
  description:
    'Check that a secret exists and how to use it. Its value is never shown: name it in `secrets` of bash or run_command, ' +
    'and that one command has it in its environment.',
  toolset: 'commands',
  access: 'read',
  reach: 'one',
  input: z.object({ name: z.string().min(1).describe('One of secrets_available') }),
  output: z.object({ name: z.string(), variable: z.string() }),
  async run({ name }, { workspace, secrets }) {
    const { variable } = secrets.find(workspace.name, name);
    return {
      text: `${name} is there. Pass secrets: ["${name}"] to bash or run_command, and use $${variable} in the command.\n`,
      structured: { name, variable },
    };
  },
});
