import { AppError } from '@croft/protocol';
import { runCommand } from '../commands/run-command.ts';
import { belowRoot } from '../files/workspace-path.ts';
import type { ToolContext } from '../tools/tool.ts';
import { pinWorkingDirectory, resolveFromBase } from './working-directory.ts';

/** Longer than any lookup of a directory takes. */
const timeoutMs = 10_000;

interface FindDirectoryOptions {
  /** Whether the lookup may open a sandbox. Left out: yes, because the call runs commands anyway. */
  readonly mayOpenSandbox?: boolean;
}

/**
 * Resolves a directory for commands to start in, as a caller wrote it: relative to the session's directory, absolute,
 * or from `~`. Returns a path from the workspace root, or an absolute one outside.
 */
export async function resolveStartDirectory(
  written: string,
  context: ToolContext,
  { mayOpenSandbox = true }: FindDirectoryOptions = {},
): Promise<string> {
  const { workspace, base } = context;
  if (written === '/') return '';
  const isHome = written === '~' || written.startsWith('~/');
  const path = isHome ? written : resolveFromBase(base, written);
  const isInside = !path.startsWith('/') || belowRoot(path, [workspace.root]) !== undefined;
  if (isInside && !isHome) return findInside(path, context);
  if (!mayOpenSandbox)
    throw new AppError(
      'E_INVALID_INPUT',
      `path is outside the workspace: ${path}; run a command first, so that the person can approve it`,
    );
  const real = await resolveInSandbox(path, context);
  const inside = belowRoot(real, [workspace.root]);
  return inside === undefined ? real : findInside(inside, context);
}

/** Returns the context of a call whose commands start in `directory`, if it is given. */
export async function startCallIn(directory: string | undefined, context: ToolContext): Promise<ToolContext> {
  if (directory === undefined) return context;
  const base = await resolveStartDirectory(directory, context);
  return { ...context, base, session: pinWorkingDirectory(context.session, context.workspace.name, base) };
}

async function findInside(path: string, { workspace }: ToolContext): Promise<string> {
  const found = await workspace.files.stat(path);
  if (found.kind !== 'directory')
    throw new AppError('E_NOT_A_DIRECTORY', `path is not a directory: ${path}`, { details: { path } });
  return found.path;
}

/** Only the sandbox knows directories outside the workspace: they are never this machine's. */
async function resolveInSandbox(path: string, { session, workspace, signal }: ToolContext): Promise<string> {
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
