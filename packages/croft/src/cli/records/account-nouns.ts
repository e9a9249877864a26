import type { Runner, Sandbox, Workspace } from '@croft/protocol';
import { parseJson } from '../../lib/text/parse-json.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { clientOptions, openClient, readSecret } from '../client.ts';
import { agentKind, findRecord, sandboxKind, workspaceKind } from './find-record.ts';
import { defineCreation, type Made } from './noun.ts';
import { toGroup } from './to-group.ts';

/** Nouns of an account, which the admin of a server can reach too. */

type AccountClient = ReturnType<typeof openClient>;
type Agent = Awaited<ReturnType<AccountClient['agents']['get']>>;
type Body<Noun extends 'agents' | 'sandboxes' | 'workspaces'> = Parameters<AccountClient[Noun]['create']>[0];

const access = { options: clientOptions, open: openClient };
const recordOptions = {
  config: { type: 'string', value: 'JSON', summary: 'its settings, or @FILE; see docs/accounts.md' },
  description: { type: 'string', value: 'TEXT', summary: 'what it is for' },
} as const;
const recordUsage = 'NAME [--config JSON | @FILE] [--description TEXT]';

export const workspaces = toGroup({
  ...{ name: 'workspaces', ...workspaceKind, ...access },
  columns: {
    id: ({ workspaceId }: Workspace) => workspaceId,
    name: ({ name }) => name,
    storage: ({ config }) => config.storage.provider,
    runner: ({ config }) => config.home,
    created: ({ createdAt }) => createdAt,
  },
  list: (client: AccountClient) => Array.fromAsync(client.workspaces.all()),
  create: defineCreation({
    ...{ usage: recordUsage, isNamed: true, options: recordOptions },
    async run(client: AccountClient, name, { config, description }): Promise<Made> {
      const body = { name, description, config: toConfig(config) } as Body<'workspaces'>;
      const answer = await client.workspaces.create(body);
      return { answer, id: answer.workspaceId };
    },
  }),
  remove: (client, { workspaceId }) => client.workspaces.remove(workspaceId),
});

export const sandboxes = toGroup({
  ...{ name: 'sandboxes', ...sandboxKind, ...access },
  columns: {
    id: ({ sandboxId }: Sandbox) => sandboxId,
    name: ({ name }) => name,
    provider: ({ config }) => config.provider,
    mode: ({ config }) => config.permissionMode,
    network: ({ config }) => config.network.mode,
    created: ({ createdAt }) => createdAt,
  },
  list: (client: AccountClient) => Array.fromAsync(client.sandboxes.all()),
  create: defineCreation({
    ...{ usage: recordUsage, isNamed: true, options: recordOptions },
    async run(client: AccountClient, name, { config, description }): Promise<Made> {
      const body = { name, description, config: toConfig(config) } as Body<'sandboxes'>;
      const answer = await client.sandboxes.create(body);
      return { answer, id: answer.sandboxId };
    },
  }),
  remove: (client, { sandboxId }) => client.sandboxes.remove(sandboxId),
});

export const agents = toGroup({
  ...{ name: 'agents', ...agentKind, ...access },
  columns: {
    id: ({ agentId }: Agent) => agentId,
    name: ({ name }) => name,
    workspaces: ({ config }) => config.workspaces?.map(({ name }) => name).join(','),
    created: ({ createdAt }) => createdAt,
  },
  list: (client: AccountClient) => Array.fromAsync(client.agents.all()),
  create: defineCreation({
    usage: 'NAME [--workspace NAME …] [--sandbox NAME] [--config JSON | @FILE] [--description TEXT]',
    isNamed: true,
    options: {
      ...recordOptions,
      workspace: { type: 'string', multiple: true, value: 'NAME', summary: 'a workspace for it, by name or id' },
      sandbox: { type: 'string', value: 'NAME', summary: 'the sandbox for its commands, by name or id' },
    },
    async run(client: AccountClient, name, { config, description, workspace = [], sandbox }): Promise<Made> {
      const references = await findReferences(client, workspace, sandbox);
      const body = { name, description, config: { ...toConfig(config), ...references } };
      const answer = await client.agents.create(body as Body<'agents'>);
      return { answer, id: answer.agentId };
    },
  }),
  remove: (client, { agentId }) => client.agents.remove(agentId),
});

export const runners = toGroup({
  ...{ name: 'runners', one: 'runner', ...access },
  idOf: ({ name }: Runner) => name,
  nameOf: ({ name }) => name,
  columns: {
    name: ({ name }) => name,
    state: ({ state }) => state,
    provider: ({ report }) => report?.provider,
    sandboxes: ({ report, load }) => report && `${load?.sandboxes ?? 0}/${report.capacity}`,
    version: ({ report }) => report?.version,
    labels: ({ report }) => toLabels(report?.labels ?? {}),
    trouble: toTrouble,
  },
  list: ({ runners: remote }: AccountClient) => remote.list(),
  create: defineCreation({
    usage: 'NAME [--expires TIME]',
    isNamed: true,
    options: {
      expires: { type: 'string', value: 'TIME', summary: 'when its token ends, such as 2030-01-31T12:00:00Z' },
    },
    run: async ({ runners: remote }: AccountClient, name, { expires }): Promise<Made> =>
      toMadeRunner(await remote.create({ name, expiresAt: expires })),
  }),
  remove: ({ runners: remote }, { name }) => remote.revoke(name),
  rotate: async ({ runners: remote }, { name }) => toMadeRunner(await remote.rotate(name)),
  aliases: { revoke: 'delete' },
});

function toMadeRunner(answer: { runner: Runner; token: string }): Made {
  const about =
    `the token of the runner ${answer.runner.name}, which is shown this once. Put it in a file and start there:\n` +
    '  croft runner --server URL --token-file FILE --root DIR';
  return { answer, id: answer.runner.name, secret: { value: answer.token, about } };
}

function toLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}

function toTrouble({ state, lastError, lastRefused }: Runner): string {
  const parts = [
    ...(lastRefused ? [`another machine came with its token: ${lastRefused.address}, ${lastRefused.at}`] : []),
    ...(lastError === undefined || state === 'online' ? [] : [`last: ${lastError}`]),
  ];
  return parts.join('; ');
}

/** Reads a config from the command line or, after `@`, from a file. */
function toConfig(given: string | undefined): Readonly<Record<string, unknown>> {
  if (given === undefined) return {};
  const config = parseJson(given.startsWith('@') ? readSecret(given.slice(1)) : given);
  if (typeof config === 'object' && config !== null && !Array.isArray(config)) return { ...config };
  throw new UsageError(`--config takes a JSON object, or @FILE with one, not ${given.slice(0, 80)}`);
}

async function findReferences(client: AccountClient, workspaceNames: readonly string[], sandboxName?: string) {
  const workspaceRows = workspaceNames.length === 0 ? [] : await Array.fromAsync(client.workspaces.all());
  const workspaces = workspaceNames.map((wanted) => {
    const { name, workspaceId } = findRecord(workspaceRows, wanted, workspaceKind);
    return { name, workspaceId };
  });
  const sandbox =
    sandboxName === undefined
      ? undefined
      : findRecord(await Array.fromAsync(client.sandboxes.all()), sandboxName, sandboxKind).sandboxId;
  return { ...(workspaces.length > 0 && { workspaces }), ...(sandbox !== undefined && { sandbox }) };
}
