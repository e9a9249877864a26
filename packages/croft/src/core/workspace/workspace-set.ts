import { AppError } from '@croft/protocol';
import { goQuote } from '../../lib/text/go-quote.ts';
import type { Workspace } from './workspace.ts';

/** The name that means every workspace. Among several workspaces none may have it. */
export const allWorkspaces = 'all';

export type WorkspaceSet = ReturnType<typeof createWorkspaceSet>;

interface WorkspaceSetOptions {
  /**
   * The workspace of a call that names none of several: `none` throws an error; `first` picks the first, whatever its
   * access.
   */
  readonly fallback?: 'none' | 'first';
}

/**
 * The workspaces of one toolbox, and the rule by which a call picks one. A call without a name can only get an initial
 * workspace; a workspace that is added later has to be named.
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
    /** Name of the workspace that a call without a name gets, if that is unambiguous. */
    fallbackName: (): string | undefined => (isDefaultClear() ? workspaces[0]?.name : undefined),

    mustBeFree,
    /** Throws `E_ALREADY_EXISTS` for a name that is taken. */
    add(workspace: Workspace): void {
      mustBeFree(workspace.name);
      byName.set(workspace.name, workspace);
    },
    /** Removes a workspace that was added. Initial workspaces stay. */
    drop(name: string): void {
      if (!workspaces.some((workspace) => workspace.name === name)) byName.delete(name);
    },

    /** The default workspace, for tools that work in none in particular. */
    first(): Workspace {
      const [first] = workspaces;
      if (!first) throw new AppError('E_WORKSPACE_REQUIRED', 'no workspace is configured');
      return first;
    },

    /** `hint` is the `workspace` argument of the call, of any type. Agents match on these two messages: keep them. */
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

    /** Whether the caller asked for every workspace. A single workspace may itself be named `all`. */
    isAll: (hint: unknown): boolean =>
      typeof hint === 'string' && hint.trim() === allWorkspaces && !byName.has(allWorkspaces),
  };
}
