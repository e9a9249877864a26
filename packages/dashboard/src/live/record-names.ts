import type { Agent, Workspace } from '@croft/protocol';
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { mayDo } from '../server/session.ts';
import { useResource } from '../server/use-resource.ts';
import { toShortId } from '../text/format-times-and-sizes.ts';
import type { FeedRow } from './feed-row.ts';

const agents = signal<ReadonlyMap<string, string>>(new Map());
const workspaces = signal<ReadonlyMap<string, string>>(new Map());

/** The name that a person gave to an agent. */
export function nameOfAgent(id: string): string {
  return agents.value.get(id) ?? toShortId(id);
}

/** An approval names a workspace with its id behind it. */
export function nameOfWorkspace(id: string): string {
  return workspaces.value.get(id) ?? id.replace(/ \(ws_\w+\)$/, '');
}

/** The workspace of a row. A change that a person made names it by its id. */
export function workspaceOf({ workspace, workspaceId }: Pick<FeedRow, 'workspace' | 'workspaceId'>): string {
  return workspace === '' ? nameOfWorkspace(workspaceId) : workspace;
}

/** Knows the names of everything that rows mention by an id. */
export function useNames(): void {
  const mayRead = mayDo('read');
  const agentList = useResource<{ agents: readonly Agent[] }>(mayRead ? '/v1/agents?limit=200' : undefined).value.data;
  const workspaceList = useResource<{ workspaces: readonly Workspace[] }>(
    mayRead ? '/v1/workspaces?limit=200' : undefined,
  ).value.data;
  useEffect(() => {
    agents.value = new Map(agentList?.agents.map(({ agentId, name }) => [agentId, name]));
  }, [agentList]);
  useEffect(() => {
    workspaces.value = new Map(workspaceList?.workspaces.map(({ workspaceId, name }) => [workspaceId, name]));
  }, [workspaceList]);
}
