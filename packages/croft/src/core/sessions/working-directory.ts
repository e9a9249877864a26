import { posix } from 'node:path';
import type { Sandbox } from '../commands/sandbox.ts';
import type { Session } from './session.ts';

/** The current directory of a session: inside one of its workspaces, or a directory that only commands can see. */
export interface WorkingDirectory {
  readonly workspace: string;
  /**
   * Relative to the root of the workspace; absolute for a directory outside of it, as commands in the sandbox see it.
   */
  readonly path: string;
}

/** Returns the directory that relative paths of calls to this workspace start from; empty for its root. */
export function workingDirectoryIn(workingDirectory: WorkingDirectory | undefined, workspace: string): string {
  return workingDirectory?.workspace === workspace ? workingDirectory.path : '';
}

/** Turns a path that a caller wrote into one relative to the root of the workspace. */
export function resolveFromBase(base: string, path: string): string {
  if (base === '' || path.startsWith('/')) return path;
  return path === '' ? base : posix.join(base, path);
}

/** Turns a root-relative path into one that the caller would write. */
export function relativeToBase(base: string, path: string): string {
  return base === '' || base.startsWith('/') ? path : posix.relative(base, path) || '.';
}

/** Wraps a sandbox: commands start in `base` unless they name a directory. */
export function sandboxStartingAt(sandbox: Sandbox, base: string): Sandbox {
  if (base === '') return sandbox;
  const directory = base.startsWith('/') ? base : posix.join(sandbox.workspacePath, base);
  return { ...sandbox, start: (command) => sandbox.start({ directory, ...command }) };
}

/**
 * Wraps a session for an approved call: its commands start in `base`, also when the session changes directory
 * meanwhile.
 */
export function pinWorkingDirectory(session: Session, workspace: string, base: string): Session {
  const { sandboxes } = session;
  const use: typeof sandboxes.use = (name, work) =>
    sandboxes.use(name, (sandbox) =>
      work(name === workspace ? sandboxStartingAt(sandbox, base || sandbox.workspacePath) : sandbox),
    );
  return { ...session, sandboxes: { ...sandboxes, use } };
}
