import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';

export const secretsAvailable = defineTool({
  name: 'secrets_available',
  title: 'List secrets',
  description: 'The names of the secrets that commands in this workspace may be given. Never their values.',
  toolset: 'commands',
  access: 'read',
  reach: 'one',
  input: z.object({}),
  output: z.object({ names: z.array(z.string()) }),
  async run(_input, { workspace, secrets }) {
    const names = secrets.names(workspace.name);
    const notices = names.length === 0 ? ['No secrets are available in this workspace.'] : [];
    return { text: names.join('\n'), structured: { names }, notices };
  },
});
