/** Nouns that only a key of the account reaches. */
import { text } from 'node:stream/consumers';
import { AppError, type Key } from '@croft/protocol';
import type { Client } from '@croft/sdk';
import { UsageError } from '../../lib/usage-error.ts';
import type { CommandContext } from '../command.ts';
import { keyOptions, openKeyClient, readSecret } from '../open-client.ts';
import { agentKind, findRecord, onlyRecord } from './find-record.ts';
import { defineCreation, type Made } from './noun.ts';
import { toCommandGroup } from './to-command-group.ts';

type Secret = Awaited<ReturnType<Client['secrets']['list']>>[number];
type Session = Awaited<ReturnType<ReturnType<Client['agent']>['sessions']['open']>>;

const access = {
  options: keyOptions,
  open: (values: Parameters<typeof openKeyClient>[0], terminal: CommandContext) =>
    openKeyClient(values, terminal).client,
};

export const keys = toCommandGroup({
  ...{ name: 'keys', one: 'key', example: 'laptop', ...access },
  idOf: ({ keyId }: Key) => keyId,
  nameOf: ({ name }) => name,
  columns: {
    id: ({ keyId }) => keyId,
    name: ({ name }) => name,
    scopes: ({ scopes }) => scopes.join(','),
    agents: ({ agents = [] }) => agents.join(','),
    expires: ({ expiresAt }) => expiresAt,
    created: ({ createdAt }) => createdAt,
  },
  list: async (client: Client) => (await Array.fromAsync(client.keys.all())).filter(({ revokedAt }) => !revokedAt),
  create: defineCreation({
    usage: 'NAME --scope SCOPE … [--agent NAME …] [--expires TIME]',
    isNamed: true,
    examples: ['laptop --scope read --scope call > ~/laptop.key'],
    options: {
      scope: {
        type: 'string',
        multiple: true,
        value: 'SCOPE',
        completes: ['read', 'write', 'call', 'approve', 'terminal'],
        summary: 'what it may do: read, write, call, approve, terminal',
      },
      agent: {
        type: 'string',
        multiple: true,
        value: 'NAME',
        completes: 'agents',
        summary: 'only this agent, by name or id',
      },
      expires: { type: 'string', value: 'TIME', summary: 'when it ends, such as 2030-01-31T12:00:00Z' },
    },
    async run(client: Client, name, { scope, agent, expires }): Promise<Made> {
      if (scope === undefined)
        throw new UsageError('say what the key may do: --scope read, write, call, approve or terminal');
      const rows = agent === undefined ? [] : await Array.fromAsync(client.agents.all());
      const agents = agent?.map((wanted) => findRecord(rows, wanted, agentKind).agentId);
      const body = { name, scopes: scope, agents, expiresAt: expires } as Parameters<Client['keys']['create']>[0];
      return toMadeKey(await client.keys.create(body));
    },
  }),
  remove: (client, { keyId }) => client.keys.revoke(keyId),
  rotate: async (client, { keyId }) => toMadeKey(await client.keys.rotate(keyId)),
});

function toMadeKey(answer: { key: Key; secret: string }): Made {
  const about = `the key ${answer.key.name} (${answer.key.keyId}), which is shown this once`;
  return { answer, id: answer.key.keyId, secret: { value: answer.secret, about } };
}

export const secrets = toCommandGroup({
  ...{ name: 'secrets', one: 'secret', example: 'REGISTRY_TOKEN', ...access },
  idOf: ({ name }: Secret) => name,
  nameOf: ({ name }) => name,
  columns: { name: ({ name }) => name, updated: ({ updatedAt }) => updatedAt },
  list: (client: Client) => client.secrets.list(),
  create: defineCreation({
    usage: 'NAME [--value-file FILE]',
    isNamed: true,
    examples: ['REGISTRY_TOKEN < ~/registry.token'],
    options: {
      'value-file': { type: 'string', value: 'FILE', summary: 'a file with its value (standard input)' },
    },
    async run(client: Client, name, { 'value-file': file }, { stdin }): Promise<Made> {
      const value = file === undefined ? (await text(stdin)).replace(/\r?\n$/, '') : readSecret(file);
      const answer = await client.secrets.put(name, value);
      return { answer, id: answer.name };
    },
  }),
  remove: (client, { name }) => client.secrets.remove(name),
});

const agentOption = {
  agent: {
    type: 'string',
    value: 'NAME',
    completes: 'agents',
    summary: 'the agent, by name or id (the only one)',
  },
} as const;

export const sessions = toCommandGroup({
  ...{ name: 'sessions', one: 'session', example: 'ses_1', ...access },
  options: { ...keyOptions, ...agentOption },
  idOf: ({ session }: Session) => session,
  nameOf: ({ session }) => session,
  columns: { session: ({ session }) => session, parent: ({ parent }) => parent, used: ({ usedAt }) => usedAt },
  list: async (client: Client, { agent }) => Array.fromAsync((await findAgent(client, agent)).sessions.all()),
  create: defineCreation({
    usage: '[--agent NAME] [--parent SESSION] [--workspace NAME …] [--read-only] [--permission-mode MODE]',
    isNamed: false,
    examples: ['--agent writer --read-only'],
    options: {
      ...agentOption,
      parent: {
        type: 'string',
        value: 'SESSION',
        summary: 'the session that it is a child of (the default one)',
      },
      workspace: {
        type: 'string',
        multiple: true,
        value: 'NAME',
        completes: 'workspaces',
        summary: 'only this workspace of the agent',
      },
      'read-only': { type: 'boolean', summary: 'nothing may be changed or run' },
      'permission-mode': { type: 'string', value: 'MODE', summary: 'at least as strict as this: ask, edit or bypass' },
    },
    async run(client: Client, _, { agent, parent, workspace, ...rest }): Promise<Made> {
      const { sessions: own } = await findAgent(client, agent);
      const mode = toMode(rest['permission-mode']);
      const body = { parent, workspaces: workspace, readOnly: rest['read-only'], permissionMode: mode };
      const answer = await own.open(body);
      return { answer, id: answer.session };
    },
  }),
  remove: async (client, { session }, { agent }) => (await findAgent(client, agent)).sessions.end(session),
});

async function findAgent(client: Client, wanted: unknown) {
  const rows = await Array.fromAsync(client.agents.all());
  const { agentId } =
    wanted === undefined ? onlyRecord(rows, '--agent', agentKind) : findRecord(rows, String(wanted), agentKind);
  return client.agent(agentId);
}

const modes = ['ask', 'edit', 'bypass'] as const;

function toMode(given: string | undefined) {
  const mode = modes.find((name) => name === given);
  if (given !== undefined && mode === undefined)
    throw new AppError('E_INVALID_INPUT', `--permission-mode takes ${modes.join(', ')}, not ${given}`);
  return mode;
}
