import type { Fork } from '@croft/protocol';
import type { Client } from '@croft/sdk';
import { defineGroup } from '../command.ts';
import { defineClientCommand } from '../define-client-command.ts';
import { printReport } from '../history/print-changes.ts';
import { oneOf } from '../options/sandbox-options.ts';
import { outputOptions, printJson, printRows, toCell } from '../output/print-rows.ts';
import { findRecord, type Kind } from '../records/find-record.ts';
import { findWorkspace } from '../records/find-workspace.ts';
import { removeWorkspace } from '../records/remove-workspace.ts';

const { json } = outputOptions;
const oneFork = { takes: [2, 2], words: ['workspaces', 'forks'] } as const;
const ways = ['refuse', 'ours', 'theirs', 'markers'] as const;

const list = defineClientCommand({
  ...{ name: 'forks list', usage: 'WORKSPACE [--json | -q]', examples: ['croft forks list notes'] },
  ...{ options: outputOptions, takes: [1, 1], words: ['workspaces'] },
  async run({ client, values, words: [wanted], terminal }) {
    const rows = await client.forks((await findWorkspace(client, wanted)).workspaceId).list();
    printRows({ columns, idOf: forkKind.idOf, rows, answer: { forks: rows } }, values, terminal);
  },
});

const forkKind: Kind<Fork> = {
  one: 'fork',
  listedBy: 'forks list WORKSPACE',
  idOf: ({ workspaceId }) => workspaceId,
  nameOf: ({ name }) => name,
};
const columns = {
  id: forkKind.idOf,
  name: forkKind.nameOf,
  parent: ({ parent }: Fork) => parent,
  created: ({ createdAt }: Fork) => createdAt,
};

const create = defineClientCommand({
  name: 'forks create',
  usage: 'WORKSPACE NAME [--snapshot SNAPSHOT] [--json]',
  examples: ['croft forks create notes notes-try', 'croft forks create notes notes-old --snapshot monday'],
  options: {
    snapshot: {
      type: 'string',
      value: 'SNAPSHOT',
      completes: 'snapshots',
      summary: 'start as it was then, not as now',
    },
    json,
  },
  takes: [2, 2],
  words: ['workspaces', []],
  async run({ client, values, words: [wanted, name = ''], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    const fork = await client.forks(workspaceId).create({ name, snapshot: values.snapshot });
    if (values.json) printJson({ fork }, terminal.stdout);
    else terminal.stdout.write(`${fork.workspaceId}\n`);
  },
});

const merge = defineClientCommand({
  name: 'forks merge',
  usage: 'WORKSPACE FORK [--on-conflict WAY] [--json]',
  examples: ['croft forks merge notes notes-try', 'croft forks merge notes notes-try --on-conflict markers'],
  options: {
    'on-conflict': {
      ...{ type: 'string', value: 'WAY', completes: ways },
      summary: 'where both changed the same: refuse (nothing is merged; the default), ours, theirs or markers',
    },
    json,
  },
  ...oneFork,
  async run({ client, values, words: [wanted, name = ''], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    const onConflict =
      values['on-conflict'] === undefined ? 'refuse' : oneOf('on-conflict', ways, values['on-conflict']);
    const fork = await findFork(client, workspaceId, name);
    const answer = await client.forks(workspaceId).merge({ fork: fork.name, onConflict });
    if (values.json) return printJson(answer, terminal.stdout);
    printReport(answer, terminal);
    for (const { path, reason } of answer.conflicts)
      terminal.stderr.write(`croft: both changed ${toCell(path)}: ${toCell(reason)}\n`);
  },
});

const remove = defineClientCommand({
  ...{ name: 'forks delete', usage: 'WORKSPACE FORK [--json]', examples: ['croft forks delete notes notes-try'] },
  ...{ options: { json }, ...oneFork },
  async run({ client, values, words: [wanted, name = ''], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    await removeWorkspace(client, (await findFork(client, workspaceId, name)).workspaceId);
    if (values.json) printJson({ deleted: true }, terminal.stdout);
  },
});

async function findFork(client: Client, workspaceId: string, wanted: string): Promise<Fork> {
  return findRecord(await client.forks(workspaceId).list(), wanted, forkKind);
}

export const forks = defineGroup('forks', { list, create, merge, delete: remove });
