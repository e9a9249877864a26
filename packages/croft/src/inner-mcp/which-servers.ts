import type { McpServer, McpServers } from '@croft/protocol';
import { mustAsk } from '../core/permission.ts';
import type { Workspace } from '../core/workspace.ts';
import type { WorkspaceSet } from '../core/workspace-set.ts';
import { type Note, readWorkspaceServers } from './definitions.ts';

export interface WhichServersOptions {
  /** By name, as whoever is responsible for the agent wrote them. */
  readonly servers: McpServers;
  /** Whether those that `.mcp.json` of a workspace names count too. */
  readonly readsWorkspaces: boolean;
  readonly workspaces: WorkspaceSet;
}

/** Which servers there are, and where they may run. */
export function createWhichServers({ servers, readsWorkspaces, workspaces }: WhichServersOptions) {
  return {
    usable,

    /** Where a tool is looked up. That it cannot run in the one that was meant is said by whoever checks access. */
    pickFor(hint: unknown): Workspace | undefined {
      const named = typeof hint === 'string' ? hint.trim() : workspaces.fallbackName();
      const all = usable();
      return all.find(({ name }) => name === named) ?? all[0];
    },

    /** What the record names is the same in every workspace, so that one of them is enough to know its tools. */
    async toList(workspace: Workspace, note: Note): Promise<[string, McpServer][]> {
      const own = await ownServers(workspace, note);
      return Object.entries(workspace === usable()[0] ? { ...own, ...servers } : own);
    },

    async find(workspace: Workspace, name: string): Promise<McpServer | undefined> {
      if (Object.hasOwn(servers, name)) return servers[name];
      const own = await ownServers(workspace, () => {});
      return Object.hasOwn(own, name) ? own[name] : undefined;
    },
  };

  function usable(): Workspace[] {
    return workspaces.list().filter(({ access, isFleeting }) => access === 'read-write' && !isFleeting);
  }

  /** They start with a list, unasked: where a person has to agree to commands, no file of the workspace may name any. */
  async function ownServers(workspace: Workspace, note: Note): Promise<McpServers> {
    if (!readsWorkspaces) return {};
    if (!mustAsk(workspace.permission, { access: 'execute' })) return readWorkspaceServers(workspace.files, note);
    note('.mcp.json', 'does not count where a person has to agree to commands');
    return {};
  }
}
