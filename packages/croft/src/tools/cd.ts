import { z } from 'zod';
import { resolveStartDirectory } from '../core/sessions/resolve-start-directory.ts';
import type { WorkingDirectory } from '../core/sessions/working-directory.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';
import { needsApproval } from '../core/workspace/permission.ts';

export const cd = defineTool({
  name: 'cd',
  aliases: ['Cd', 'change_directory'],
  spellings: { aliases: { directory: 'path', dir: 'path', cwd: 'path' } },
  title: 'Change directory',
  description:
    'Choose the directory that relative paths and commands start from, for the calls of this session to this workspace. ' +
    '~ is the home of the sandbox, which only commands can see. Without a path: back to the workspace root.',
  toolset: 'session',
  access: 'read',
  reach: 'one',
  idempotent: true,
  input: z.object({
    path: z.string().default('/').describe('Directory: relative, absolute, or from ~; the workspace root if left out'),
  }),
  output: z.object({
    workspace: z.string(),
    path: z.string().describe('From the workspace root; absolute if outside'),
  }),
  async run({ path }, context) {
    const { workspace, session } = context;
    const destination = {
      workspace: workspace.name,
      path: await resolveStartDirectory(path, context, toOptions(context)),
    };
    session.workingDirectory = destination.path === '' ? undefined : destination;
    return { text: `now in ${render(destination, workspace.root)}`, structured: destination };
  },
});

/**
 * Opening a sandbox runs its setup commands, which may run code that the agent wrote. So a sandbox is opened only where
 * no approval is needed.
 */
function toOptions({ workspace, session }: ToolContext) {
  const mustBeAsked = needsApproval(workspace.permission, { access: 'execute' });
  return { mayOpenSandbox: !mustBeAsked || session.sandboxes.isOpen(workspace.name) };
}

function render({ workspace, path }: WorkingDirectory, root: string): string {
  if (path.startsWith('/')) return `${path}, outside ${workspace}: commands start there, file tools do not reach it`;
  return path === '' ? root : `${root}/${path}`;
}
