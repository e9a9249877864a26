import { AppError } from '@croft/protocol';
import { notFound } from '../core/accounts/refusals.ts';
import type { Actor, Registry, WorkspaceReference } from '../core/accounts/registry.ts';
import type { WorkspaceRecord } from './places.ts';

/** Who forks: a person with a key, or an agent, who then has what it made. */
export interface Forker {
  readonly actor: Actor;
  readonly agentId?: string | undefined;
}

export type ForkedRecords = ReturnType<typeof createForkedRecords>;

/** Forks as records of their own, and who has them. */
export function createForkedRecords(
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
    /** Gives it to whoever forked, as they have the parent. */
    attach: async (name: string, workspaceId: string) => agents?.attach(name, workspaceId, parent.id),
    /** Whether whoever asks has it: people have all. */
    has: async (workspaceId: string) => (await agents?.has(workspaceId)) ?? true,
    /** Nothing came of it. */
    undo: (workspaceId: string) => workspaces.remove(actor, workspaceId, {}),
    /** Its files go with it, unless somebody else was given it. */
    async remove(workspaceId: string): Promise<void> {
      const { id } = await mustFind(workspaceId);
      await agents?.detach(id);
      await workspaces.remove(actor, id, {});
    },
  };
}

/** What an agent refers to, as it is changed by what the agent does itself: never more than it has of the parent. */
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
      // Taken from the agent meanwhile: it gets nothing in its place.
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
