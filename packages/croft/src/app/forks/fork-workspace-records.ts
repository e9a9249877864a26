import { AppError } from '@croft/protocol';
import { notFound } from '../../core/accounts/access/registry-errors.ts';
import type { Actor, Registry, WorkspaceReference } from '../../core/accounts/ports/registry.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';

/** The caller that forks: a person with a key, or an agent, which then gets the fork. */
export interface Forker {
  readonly actor: Actor;
  readonly agentId?: string | undefined;
}

export type ForkWorkspaceRecords = ReturnType<typeof createForkWorkspaceRecords>;

/** Workspace records of forks, and which agent has them. */
export function createForkWorkspaceRecords(
  registry: Pick<Registry, 'workspaces' | 'agents'>,
  parent: WorkspaceRecord,
  { actor, agentId }: Forker,
) {
  const { workspaces } = registry;
  const agents = agentId === undefined ? undefined : createAttachments(registry, actor, agentId);
  const find = (workspaceId: string) => workspaces.open(actor.accountId, workspaceId);

  async function mustFind(workspaceId: string): Promise<WorkspaceRecord> {
    const record = await find(workspaceId);
    if (!record) throw notFound('Workspace');
    return record;
  }

  return {
    find,
    mustFind,
    /** Throws `E_ALREADY_EXISTS` for a name that is taken. */
    async add(name: string): Promise<WorkspaceRecord> {
      await agents?.mustBeFree(name);
      const { id } = await workspaces.create(actor, { name, config: { ...parent.config, forkOf: parent.id } });
      return mustFind(id);
    },
    /** Gives the fork to the agent that forked, with the same access as the parent. */
    attach: async (name: string, workspaceId: string) => agents?.attach(name, workspaceId, parent.id),
    /** Whether the caller has the fork. A person has every fork of the account. */
    has: async (workspaceId: string) => (await agents?.has(workspaceId)) ?? true,
    /** Removes the record of a fork that could not be made. */
    undo: (workspaceId: string) => workspaces.remove(actor, workspaceId, {}),
    /**
     * Takes the fork from the agent and removes it with its files. Throws `E_IN_USE`, and keeps the files, if another
     * agent has it.
     */
    async remove(workspaceId: string): Promise<void> {
      const { id, name } = await mustFind(workspaceId);
      await agents?.detach(id);
      try {
        await workspaces.remove(actor, id, {});
      } catch (thrown) {
        // The objects of the fork still exist: the agent gets it back, to try again.
        if (AppError.from(thrown).code !== 'E_IN_USE') await agents?.attach(name, id, parent.id);
        throw thrown;
      }
    },
  };
}

/** Changes which workspaces an agent has, on the agent's own behalf. A fork never gets more access than its parent. */
function createAttachments({ agents }: Pick<Registry, 'agents'>, actor: Actor, agentId: string) {
  async function read() {
    const agent = await agents.open(actor.accountId, agentId);
    if (!agent) throw notFound('Agent');
    return { version: agent.version, references: agent.config.workspaces ?? [] };
  }

  const write = async (workspaces: readonly WorkspaceReference[], version: number) => {
    await agents.patch(actor, agentId, { config: { workspaces } }, { version });
  };

  return {
    async mustBeFree(name: string): Promise<void> {
      const { references } = await read();
      if (!references.some((reference) => reference.name === name)) return;
      throw new AppError('E_ALREADY_EXISTS', `there is a workspace ${JSON.stringify(name)} already`, {
        details: { name },
      });
    },
    async attach(name: string, workspaceId: string, parentId: string): Promise<void> {
      const { references, version } = await read();
      const like = references.find((reference) => reference.workspaceId === parentId);
      // The parent was taken from the agent in the meantime, so the agent gets no fork of it.
      if (!like) throw notFound('Workspace');
      await write([...references, { ...like, name, workspaceId }], version);
    },
    async detach(workspaceId: string): Promise<void> {
      const { references, version } = await read();
      await write(
        references.filter((reference) => reference.workspaceId !== workspaceId),
        version,
      );
    },
    has: async (workspaceId: string): Promise<boolean> =>
      (await read()).references.some((reference) => reference.workspaceId === workspaceId),
  };
}
