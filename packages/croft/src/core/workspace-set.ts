import { AppError } from '@croft/protocol';
import { goQuote } from '../lib/text/go-quote.ts';
import type { Workspace } from './workspace.ts';

/** The word that names every workspace at once. No workspace of several may be called so. */
export const allWorkspaces = 'all';

export type WorkspaceSet = ReturnType<typeof createWorkspaceSet>;

export interface WorkspaceSetOptions {
  /** What a call means that names none of several: nothing, or the first, whatever it can do. */
  readonly fallback?: 'none' | 'first';
}

/**
 * The workspaces of one toolbox, and the policy by which a call picks among them. Those it was made with are what a call
 * means that names none; those that are added later are only ever meant by name.
 */
export function createWorkspaceSet(workspaces: readonly Workspace[], { fallback = 'none' }: WorkspaceSetOptions = {}) {
  const byName = new Map(workspaces.map((workspace) => [workspace.name, workspace]));
  const names = () => [...byName.keys()].sort();
  const listed = () => names().join(', ');
  const mustBeFree = (name: string): void => {
    if (!byName.has(name) && name !== allWorkspaces) return;
    throw new AppError('E_ALREADY_EXISTS', `there is a workspace ${goQuote(name)} already`, { details: { name } });
  };
  const isDefaultClear = () => workspaces.length === 1 || fallback === 'first';

  return {
    get names(): readonly string[] {
      return names();
    },
    fallback,
    list: (): readonly Workspace[] => [...byName.values()],
    /** What a call means that names none, if that is clear. */
    fallbackName: (): string | undefined => (isDefaultClear() ? workspaces[0]?.name : undefined),

    mustBeFree,
    /** Throws `E_ALREADY_EXISTS` for a name that is taken. */
    add(workspace: Workspace): void {
      mustBeFree(workspace.name);
      byName.set(workspace.name, workspace);
    },
    /** Of one that was added. */
    drop(name: string): void {
      if (!workspaces.some((workspace) => workspace.name === name)) byName.delete(name);
    },

    /** The default, for tools that are about no workspace in particular. */
    first(): Workspace {
      const [first] = workspaces;
      if (!first) throw new AppError('E_WORKSPACE_REQUIRED', 'no workspace is configured');
      return first;
    },

    /** `hint` is what the caller passed as `workspace`, of any type. Agents compare these two messages. */
    pick(hint: unknown): Workspace {
      const name = typeof hint === 'string' ? hint.trim() : '';
      const [only] = workspaces;
      if (name === '' && only && isDefaultClear()) return only;
      if (name === '') {
        throw new AppError(
          'E_WORKSPACE_REQUIRED',
          `multi-workspace sandbox: ${byName.size} workspaces configured (${listed()}) — pass \`workspace\` to pick one`,
          { details: { workspaces: names() } },
        );
      }
      const workspace = byName.get(name);
      if (workspace) return workspace;
      throw new AppError('E_UNKNOWN_WORKSPACE', `unknown workspace ${goQuote(name)}; configured: ${listed()}`, {
        details: { workspace: name, workspaces: names() },
      });
    },

    /** Whether the caller asked for every workspace at once. A single workspace may itself be called `all`. */
    isAll: (hint: unknown): boolean =>
      typeof hint === 'string' && hint.trim() === allWorkspaces && !byName.has(allWorkspaces),
  };
}
