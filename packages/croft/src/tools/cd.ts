import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { runCommand } from '../core/commands/run-command.ts';
import { belowRoot } from '../core/path.ts';
import { mustAsk } from '../core/permission.ts';
import { fromBase, type Place } from '../core/place.ts';
import { defineTool, type ToolContext } from '../core/tool.ts';

/** Longer than any directory takes to be found. */
const timeoutMs = 10_000;

export const cd = defineTool({
  name: 'cd',
  aliases: ['Cd', 'change_directory'],
  title: 'Change directory',
  description:
    'Choose the directory that relative paths and commands start from, for the calls of this session to this workspace. ' +
    '~ is the home of the sandbox, which only commands can see. Without a path: back to the workspace root.',
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
    const place = { workspace: workspace.name, path: await find(path, context) };
    session.place = place.path === '' ? undefined : place;
    return { text: `now in ${render(place, workspace.root)}`, structured: place };
  },
});

async function find(written: string, context: ToolContext): Promise<string> {
  const { workspace, base } = context;
  if (written === '/') return '';
  const isHome = written === '~' || written.startsWith('~/');
  const path = isHome ? written : fromBase(base, written);
  const isInside = !path.startsWith('/') || belowRoot(path, [workspace.root]) !== undefined;
  if (isInside && !isHome) return findInside(path, context);
  const real = await askSandbox(path, context);
  const inside = belowRoot(real, [workspace.root]);
  return inside === undefined ? real : findInside(inside, context);
}

async function findInside(path: string, { workspace }: ToolContext): Promise<string> {
  const found = await workspace.files.stat(path);
  if (found.kind !== 'directory')
    throw new AppError('E_NOT_A_DIRECTORY', `path is not a directory: ${path}`, { details: { path } });
  return found.path;
}

/** What lies outside the workspace is known to the sandbox alone, and never this machine's. */
async function askSandbox(path: string, { session, workspace, signal }: ToolContext): Promise<string> {
  // Opening one runs the commands that set it up, which may run what the agent wrote: nothing to do unasked.
  if (mustAsk(workspace.permission, { access: 'execute' }) && !session.sandboxes.isOpen(workspace.name))
    throw new AppError(
      'E_INVALID_INPUT',
      `path is outside the workspace: ${path}; run a command first, which is asked for`,
    );
  // The path is an argument of the script; nothing in it is run.
  const argv = path.startsWith('~')
    ? (['bash', '-c', 'cd -- "$HOME$1" && pwd -P', 'cd', path.slice(1)] as const)
    : (['bash', '-c', 'cd -- "$1" && pwd -P', 'cd', path] as const);
  const result = await session.sandboxes.use(workspace.name, (sandbox) =>
    runCommand(sandbox, { argv, timeoutMs, signal }),
  );
  const real = result.stdout.trimEnd();
  if (result.exitCode === 0 && real.startsWith('/')) return real;
  throw new AppError('E_NOT_A_DIRECTORY', `the sandbox has no such directory: ${path}`, { details: { path } });
}

function render({ workspace, path }: Place, root: string): string {
  if (path.startsWith('/')) return `${path}, outside ${workspace}: commands start there, file tools do not reach it`;
  return path === '' ? root : `${root}/${path}`;
}
