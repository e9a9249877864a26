import { posix } from 'node:path';
import type { Sandbox } from './commands/sandbox.ts';
import type { Session } from './session.ts';

/** Where a session works: a directory of one of its workspaces, or one that only commands can see. */
export interface Place {
  readonly workspace: string;
  /** From the root of the workspace; absolute when it is outside, as a command in the sandbox sees it. */
  readonly path: string;
}

/** The directory that paths of calls to this workspace are relative to; empty for its root. */
export function baseIn(place: Place | undefined, workspace: string): string {
  return place?.workspace === workspace ? place.path : '';
}

/** What a caller wrote, from the root of the workspace. */
export function fromBase(base: string, path: string): string {
  if (base === '' || path.startsWith('/')) return path;
  return path === '' ? base : posix.join(base, path);
}

/** A path of the workspace as the caller would write it. */
export function toBase(base: string, path: string): string {
  return base === '' || base.startsWith('/') ? path : posix.relative(base, path) || '.';
}

/** A sandbox whose commands start there, unless they say where. */
export function startingAt(sandbox: Sandbox, base: string): Sandbox {
  if (base === '') return sandbox;
  const directory = base.startsWith('/') ? base : posix.join(sandbox.workspacePath, base);
  return { ...sandbox, start: (command) => sandbox.start({ directory, ...command }) };
}

/** The session as it is for a call that was agreed to: its commands start there, wherever the session goes meanwhile. */
export function pinned(session: Session, workspace: string, base: string): Session {
  const { sandboxes } = session;
  const use: typeof sandboxes.use = (name, work) =>
    sandboxes.use(name, (sandbox) =>
      work(name === workspace ? startingAt(sandbox, base || sandbox.workspacePath) : sandbox),
    );
  return { ...session, sandboxes: { ...sandboxes, use } };
}
