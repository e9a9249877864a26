import type { Snapshot } from '@croft/protocol';
import { UsageError } from '../../lib/usage-error.ts';
import { defineGroup } from '../command.ts';
import { defineClientCommand } from '../define-client-command.ts';
import { printChangedPaths, printChanges, printReport } from '../history/print-changes.ts';
import { outputOptions, printJson, printRecord, printRows } from '../output/print-rows.ts';
import { findWorkspace } from '../records/find-workspace.ts';

const { json } = outputOptions;
const oneSnapshot = { takes: [2, 2], words: ['workspaces', 'snapshots'] } as const;

const list = defineClientCommand({
  name: 'snapshots list',
  usage: 'WORKSPACE [--json | -q]',
  examples: ['croft snapshots list notes'],
  options: outputOptions,
  takes: [1, 1],
  words: ['workspaces'],
  async run({ client, values, words: [wanted], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    const rows = await client.history(workspaceId).snapshots.list();
    printRows({ columns, idOf, rows, answer: { snapshots: rows } }, values, terminal);
  },
});

const idOf = ({ name }: Snapshot) => name;
const columns = {
  name: idOf,
  files: ({ files }: Snapshot) => files,
  bytes: ({ bytes }: Snapshot) => bytes,
  created: ({ createdAt }: Snapshot) => createdAt,
  kind: ({ isAutomatic }: Snapshot) => (isAutomatic ? 'automatic' : 'kept'),
  checks: ({ checks }: Snapshot) => checks.map(({ tool, verdict }) => `${tool} ${verdict}`).join(', '),
  about: ({ description }: Snapshot) => description,
};

const show = defineClientCommand({
  ...{ name: 'snapshots show', usage: 'WORKSPACE SNAPSHOT [--json]', examples: ['croft snapshots show notes green'] },
  ...{ options: { json }, ...oneSnapshot },
  async run({ client, values, words: [wanted, name = ''], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    const snapshot = await client.history(workspaceId).snapshots.get(name);
    if (values.json) printJson({ snapshot }, terminal.stdout);
    else printRecord(snapshot, terminal);
  },
});

const create = defineClientCommand({
  name: 'snapshots create',
  usage: 'WORKSPACE NAME [--description TEXT] [--include-ignored] [--json]',
  examples: ['croft snapshots create notes before-rewrite', 'croft snapshots create notes all --include-ignored'],
  options: {
    description: { type: 'string', value: 'TEXT', summary: 'what it is for' },
    'include-ignored': { type: 'boolean', summary: 'also what git ignores; never a .git' },
    json,
  },
  takes: [2, 2],
  words: ['workspaces', []],
  async run({ client, values, words: [wanted, name = ''], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    const { description, 'include-ignored': includeIgnored } = values;
    const answer = await client.history(workspaceId).snapshots.create({ name, description, includeIgnored });
    if (values.json) printJson(answer, terminal.stdout);
    else terminal.stdout.write(`${answer.snapshot.name}\n`);
    if (answer.replaced) terminal.stderr.write(`croft: it takes the place of an earlier snapshot ${name}\n`);
  },
});

const diff = defineClientCommand({
  name: 'snapshots diff',
  usage: 'WORKSPACE SNAPSHOT [--to SNAPSHOT] [--name-only] [--json]',
  examples: ['croft snapshots diff notes before-rewrite', 'croft snapshots diff notes monday --to tuesday'],
  options: {
    to: {
      type: 'string',
      value: 'SNAPSHOT',
      completes: 'snapshots',
      summary: 'the other snapshot (the files as they are)',
    },
    'name-only': { type: 'boolean', summary: 'only the paths, each with A, M or D' },
    json,
  },
  ...oneSnapshot,
  async run({ client, values, words: [wanted, name = ''], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    const changes = await client.history(workspaceId).snapshots.diff(name, { to: values.to });
    if (values.json) printJson({ changes }, terminal.stdout);
    else if (values['name-only']) printChangedPaths(changes, terminal);
    else printChanges(changes, terminal);
  },
});

const restore = defineClientCommand({
  name: 'snapshots restore',
  usage: 'WORKSPACE (SNAPSHOT | --green) [--json]',
  examples: ['croft snapshots restore notes before-rewrite', 'croft snapshots restore notes --green'],
  options: { green: { type: 'boolean', summary: 'the last state whose tests passed' }, json },
  takes: [1, 2],
  words: ['workspaces', 'snapshots'],
  async run({ client, values, words: [wanted, name], terminal }) {
    if ((name === undefined) !== (values.green === true)) throw new UsageError(`usage: ${restore.usage}`);
    const { workspaceId } = await findWorkspace(client, wanted);
    const { snapshots } = client.history(workspaceId);
    const answer = name === undefined ? await snapshots.restoreGreen() : await snapshots.restore(name);
    if (values.json) return printJson(answer, terminal.stdout);
    printReport(answer, terminal);
    if (answer.takenBackBy === undefined) terminal.stderr.write('the files are already so\n');
    else terminal.stderr.write(`to take it back: croft snapshots restore ${wanted} ${answer.takenBackBy}\n`);
  },
});

const remove = defineClientCommand({
  ...{ name: 'snapshots delete', usage: 'WORKSPACE SNAPSHOT [--json]' },
  ...{ examples: ['croft snapshots delete notes before-rewrite'], options: { json }, ...oneSnapshot },
  async run({ client, values, words: [wanted, name = ''], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    await client.history(workspaceId).snapshots.remove(name);
    if (values.json) printJson({ deleted: true }, terminal.stdout);
  },
});

export const snapshots = defineGroup('snapshots', { list, show, create, diff, restore, delete: remove });
