import type { Client } from '@croft/sdk';
import type { CommandContext } from '../command.ts';
import { readContexts } from '../contexts/context-file.ts';
import { parseLocation } from '../files/file-location.ts';
import { openAdmin, openKeyClient } from '../open-client.ts';
import { agentKind, findRecord, onlyRecord, workspaceKind } from '../records/find-record.ts';
import type { CompletionCandidates, Given } from './complete-words.ts';

type Wanted = Extract<CompletionCandidates, { readonly kind: 'names' }>;

/** More names than a person reads. */
const mostNames = 200;

/** Looks up names on the server, with the flags that the person has typed. */
export async function findLiveNames(
  { of, before }: Wanted,
  current: string,
  terminal: CommandContext,
): Promise<string[]> {
  if (of === 'contexts') return Object.keys(readContexts(terminal.config().client.configHome).contexts);
  if (of === 'accounts') return namesOf((await openAdmin(before.flags, terminal).list({ limit: mostNames })).accounts);
  const { client } = openKeyClient(before.flags, terminal);
  if (of === 'location') return findLocations(client, current);
  return finders[of](client, before);
}

const finders: Readonly<Record<Exclude<Wanted['of'], 'contexts' | 'accounts' | 'location'>, Finder>> = {
  agents: async ({ agents }) => namesOf((await agents.list({ limit: mostNames })).rows),
  sandboxes: async ({ sandboxes }) => namesOf((await sandboxes.list({ limit: mostNames })).rows),
  workspaces: async ({ workspaces }) => namesOf((await workspaces.list({ limit: mostNames })).rows),
  keys: async ({ keys }) => namesOf((await keys.list({ limit: mostNames })).keys),
  secrets: async ({ secrets }) => namesOf(await secrets.list()),
  runners: async ({ runners }) => namesOf(await runners.list()),
  approvals: async ({ approvals }) =>
    (await approvals.list({ state: 'pending', limit: mostNames })).approvals.map(({ approvalId }) => approvalId),
  snapshots: async (client, before) =>
    namesOf(await client.history(await workspaceOf(client, before)).snapshots.list()),
  forks: async (client, before) => namesOf(await client.forks(await workspaceOf(client, before)).list()),
  async sessions(client, { flags }) {
    const rows = (await client.agents.list({ limit: mostNames })).rows;
    const { agentId } =
      flags.agent === undefined ? onlyRecord(rows, '--agent', agentKind) : findRecord(rows, flags.agent, agentKind);
    return (await client.agent(agentId).sessions.list({ limit: mostNames })).sessions.map(({ session }) => session);
  },
};

type Finder = (client: Client, before: Given) => Promise<string[]>;

function namesOf(rows: readonly { readonly name?: string; readonly username?: string }[]): string[] {
  return rows.map(({ name, username }) => name ?? username ?? '');
}

async function workspaceOf(client: Client, { words: [named = ''] }: Given): Promise<string> {
  const { workspace = named } = parseLocation(named);
  return findRecord((await client.workspaces.list({ limit: mostNames })).rows, workspace, workspaceKind).workspaceId;
}

/** Workspaces as `notes:`, and behind the colon the entries of the folder. */
async function findLocations(client: Client, current: string): Promise<string[]> {
  const { workspace, path } = parseLocation(current);
  if (workspace === undefined) {
    const { rows } = await client.workspaces.list({ limit: mostNames });
    return rows.map(({ name }) => `${name}:`);
  }
  const folder = current.endsWith('/') ? path : path.replace(/[^/]*$/, '').replace(/\/$/, '');
  const { files } = await client
    .files(await workspaceOf(client, { words: [workspace], flags: {} }))
    .list({ path: folder });
  return files.map((entry) => `${workspace}:${entry.path}${entry.isFolder ? '/' : ''}`);
}
