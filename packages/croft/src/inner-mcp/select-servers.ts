import type { McpServer, McpServers } from '@croft/protocol';
import { needsApproval } from '../core/workspace/permission.ts';
import type { Workspace } from '../core/workspace/workspace.ts';
import type { WorkspaceSet } from '../core/workspace/workspace-set.ts';
import { type ReportIgnoredServer, readWorkspaceServers } from './server-definitions.ts';

export interface ServerSelectionOptions {
  /** The servers of the agent's record or of the operator, by name. */
  readonly servers: McpServers;
  /** Whether the servers that a workspace's `.mcp.json` names are used too. */
  readonly readsWorkspaces: boolean;
  readonly workspaces: Pick<WorkspaceSet, 'list' | 'fallbackName'>;
}

/** Decides which servers exist and in which workspaces they may run. */
export function createServerSelection({ servers, readsWorkspaces, workspaces }: ServerSelectionOptions) {
  return {
    usable,

    /**
     * Picks the workspace to look a tool up in. The toolbox's access check reports a tool that cannot run in the
     * workspace that was asked for.
     */
    pickFor(hint: unknown): Workspace | undefined {
      const named = typeof hint === 'string' ? hint.trim() : workspaces.fallbackName();
      const all = usable();
      return all.find(({ name }) => name === named) ?? all[0];
    },

    /** The record's servers are the same in every workspace, so that they are listed in the first one only. */
    async toList(workspace: Workspace, note: ReportIgnoredServer): Promise<[string, McpServer][]> {
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

  /**
   * Listing tools starts these servers without asking anybody. So where a person has to approve commands, `.mcp.json`
   * is ignored.
   */
  async function ownServers(workspace: Workspace, note: ReportIgnoredServer): Promise<McpServers> {
    if (!readsWorkspaces) return {};
    if (!needsApproval(workspace.permission, { access: 'execute' })) return readWorkspaceServers(workspace.files, note);
    note('.mcp.json', 'is ignored where a person has to approve commands');
    return {};
  }
}
