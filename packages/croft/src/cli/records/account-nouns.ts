import type { Runner, Sandbox, Workspace } from '@croft/protocol';
import { parseJson } from '../../lib/text/parse-json.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { clientOptions, openClient, readSecret } from '../open-client.ts';
import { agentKind, findRecord, sandboxKind, workspaceKind } from './find-record.ts';
import { defineCreation, defineEdit, type Made } from './noun.ts';
import { removeWorkspace } from './remove-workspace.ts';
import { toCommandGroup } from './to-command-group.ts';

/** Nouns of an account, which the admin of a server can reach too. */

type AccountClient = ReturnType<typeof openClient>;
type Agent = Awaited<ReturnType<AccountClient['agents']['get']>>;
type Body<Noun extends 'agents' | 'sandboxes' | 'workspaces'> = Parameters<AccountClient[Noun]['create']>[0];

const access = { options: clientOptions, open: openClient };
const recordOptions = {
  config: { type: 'string', value: 'JSON', summary: 'its settings, or @FILE with them; see docs/accounts.md' },
  description: { type: 'string', value: 'TEXT', summary: 'what it is for' },
} as const;
const editOptions = {
  name: { type: 'string', value: 'NAME', summary: 'another name' },
  ...recordOptions,
  'if-version': { type: 'string', value: 'N', summary: 'only if the record still has this version' },
} as const;
const editUsage = '[--name NAME] [--config JSON | @FILE] [--description TEXT] [--if-version N]';
const recordUsage = 'NAME [--config JSON | @FILE] [--description TEXT]';

export const workspaces = toCommandGroup({
  ...{ name: 'workspaces', example: 'notes', ...workspaceKind, ...access },
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
    examples: ['notes', 'notes --description "what we know"'],
    async run(client: AccountClient, name, { config, description }): Promise<Made> {
      const body = { name, description, config: toConfig(config) } as Body<'workspaces'>;
      const answer = await client.workspaces.create(body);
      return { answer, id: answer.workspaceId };
    },
  }),
  edit: defineEdit({
    ...{ usage: editUsage, options: editOptions },
    examples: ['notes --description "what everybody knows"'],
    run: (client: AccountClient, { workspaceId }, values) =>
      client.workspaces.patch(workspaceId, toPatch(values), toVersion(values)),
  }),
  remove: (client, { workspaceId }) => removeWorkspace(client, workspaceId),
});

export const sandboxes = toCommandGroup({
  ...{ name: 'sandboxes', example: 'box', ...sandboxKind, ...access },
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
    examples: ['box', `careful --config '{"permissionMode": "ask"}'`],
    async run(client: AccountClient, name, { config, description }): Promise<Made> {
      const body = { name, description, config: toConfig(config) } as Body<'sandboxes'>;
      const answer = await client.sandboxes.create(body);
      return { answer, id: answer.sandboxId };
    },
  }),
  edit: defineEdit({
    ...{ usage: editUsage, options: editOptions },
    examples: [`box --config '{"timeout": 300}'`],
    run: (client: AccountClient, { sandboxId }, values) =>
      client.sandboxes.patch(sandboxId, toPatch(values), toVersion(values)),
  }),
  remove: (client, { sandboxId }) => client.sandboxes.remove(sandboxId),
});

const referenceOptions = {
  workspace: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    completes: 'workspaces',
    summary: 'a workspace for it, by name or id; those that are named are all that it has',
  },
  sandbox: {
    type: 'string',
    value: 'NAME',
    completes: 'sandboxes',
    summary: 'the sandbox for its commands, by name or id',
  },
} as const;

export const agents = toCommandGroup({
  ...{ name: 'agents', example: 'writer', ...agentKind, ...access },
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
      ...referenceOptions,
    },
    examples: ['writer --workspace notes --sandbox box'],
    async run(client: AccountClient, name, { config, description, workspace = [], sandbox }): Promise<Made> {
      const references = await findReferences(client, workspace, sandbox);
      const body = { name, description, config: { ...toConfig(config), ...references } };
      const answer = await client.agents.create(body as Body<'agents'>);
      return { answer, id: answer.agentId };
    },
  }),
  edit: defineEdit({
    usage: `[--workspace NAME …] [--sandbox NAME] ${editUsage}`,
    options: { ...editOptions, ...referenceOptions },
    examples: ['writer --workspace notes --workspace site', 'writer --name author'],
    async run(client: AccountClient, { agentId }, { workspace = [], sandbox, ...values }) {
      const patch = toPatch(values);
      const references = await findReferences(client, workspace, sandbox);
      const config = { ...patch.config, ...references };
      const body = { ...patch, ...(Object.keys(config).length > 0 && { config }) };
      return client.agents.patch(agentId, body, toVersion(values));
    },
  }),
  remove: (client, { agentId }) => client.agents.remove(agentId),
});

export const runners = toCommandGroup({
  ...{ name: 'runners', one: 'runner', example: 'gpu-1', ...access },
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
    examples: ['gpu-1 > ~/runner.token'],
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

interface EditValues {
  readonly name?: string;
  readonly config?: string;
  readonly description?: string;
  readonly 'if-version'?: string;
}

/** The change that the flags name. An empty description takes the description away. */
function toPatch({ name, config, description }: EditValues) {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(config !== undefined && { config: toConfig(config) }),
  };
}

function toVersion({ 'if-version': given }: EditValues): { version?: number } {
  if (given === undefined) return {};
  const version = Number(given);
  if (Number.isSafeInteger(version) && version > 0) return { version };
  throw new UsageError(`--if-version takes the version of the record, such as 3, not ${given}`);
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
