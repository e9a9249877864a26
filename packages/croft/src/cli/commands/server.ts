import { openRecordsForOperator } from '../../app/records/open-records-for-operator.ts';
import type { DataDirectoryRow } from '../../core/accounts/ports/account-tables.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineCommand, defineGroup } from '../command.ts';
import { addKey, findServerKeys, promoteKey, type ServerKeys } from '../find-server-keys.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { printRows } from '../output/print-rows.ts';

const recordsOptions = {
  data: { type: 'string', value: 'DIR', summary: 'the data directory of croft' },
  'database-url': { type: 'string', value: 'URL', summary: 'PostgreSQL for records' },
} as const;

const keys = defineCommand({
  name: 'server keys',
  usage: 'croft server keys rotate [--data DIR] [--database-url URL]',
  examples: ['croft server keys rotate'],
  options: recordsOptions,
  async run({ values, positionals }, terminal) {
    if (positionals.join(' ') !== 'rotate') throw new UsageError(`usage: ${keys.usage}`);
    const config = terminal.config();
    const data = values.data ?? config.data;
    const known = findServerKeys(data, config.keys);
    const databaseUrl = values['database-url'] ?? config.databaseUrl;
    const open = (serverKeys: typeof known) => openRecordsForOperator({ data, databaseUrl, keys: serverKeys });
    const waiting = await unusedIn(await open(known));
    // With `CROFT_KEYS`, the operator has already put the new key first.
    if (known.file === undefined) return reseal(await open(known), known, terminal);
    const added = waiting ? known : addKey(known);
    const next = waiting ?? (await unusedIn(await open(added)));
    if (!next) throw new UsageError('there is no new key to seal with');
    // Servers of one machine read the same file. Servers that share a database may each have a file of their own.
    if (!waiting && databaseUrl !== undefined) {
      terminal.stdout.write(toAdded(next.id, known.file));
      return 0;
    }
    const promoted = promoteKey(added, next.id);
    return reseal(await open(promoted), promoted, terminal);
  },
});

const directories = defineCommand({
  name: 'server directories',
  usage: 'croft server directories list|adopt ID [--json] [--data DIR] [--database-url URL]',
  examples: ['croft server directories list'],
  options: {
    ...recordsOptions,
    json: { type: 'boolean', summary: 'print JSON' },
  },
  async run({ values, positionals }, terminal) {
    const [verb, id = '', ...rest] = positionals;
    const isAdopting = verb === 'adopt' && id !== '';
    if (rest.length > 0 || !(isAdopting || (verb === 'list' && id === '')))
      throw new UsageError(`usage: ${directories.usage}`);
    await using opened = await openRecordsOf(values, terminal);
    if (!isAdopting) return printDirectories(await opened.directories.list(), values.json, terminal);
    const count = await opened.directories.adopt(id);
    terminal.stdout.write(`${count} workspaces of ${id} belong to this data directory now\n`);
    return exitCodes.done;
  },
});

export const server = defineGroup('server', { keys, directories });

function printDirectories(
  rows: readonly DataDirectoryRow[],
  json: boolean | undefined,
  { stdout }: CommandContext,
): number {
  const columns = {
    id: (row: DataDirectoryRow) => row.id,
    host: (row: DataDirectoryRow) => row.host,
    address: (row: DataDirectoryRow) => row.address,
    used: (row: DataDirectoryRow) => row.usedAt,
  };
  printRows(
    { columns, idOf: ({ id }) => id, rows, answer: { directories: rows } },
    { json: json ?? false },
    { stdout },
  );
  return exitCodes.done;
}

function openRecordsOf(
  values: { readonly data?: string; readonly 'database-url'?: string },
  terminal: CommandContext,
): Promise<Sealed> {
  const config = terminal.config();
  const data = values.data ?? config.data;
  const databaseUrl = values['database-url'] ?? config.databaseUrl;
  return openRecordsForOperator({ data, databaseUrl, keys: findServerKeys(data, config.keys) });
}

type Sealed = Awaited<ReturnType<typeof openRecordsForOperator>>;

async function unusedIn(sealed: Sealed) {
  await using opened = sealed;
  return await opened.unusedKey();
}

async function reseal(sealed: Sealed, { ring }: ServerKeys, { stdout }: CommandContext): Promise<number> {
  await using opened = sealed;
  const count = await opened.resealAllRecords();
  stdout.write(`sealed ${count} records with key ${ring[0]?.id}\n`);
  return 0;
}

function toAdded(id: string, file: string): string {
  return (
    `added key ${id}; nothing is sealed with it yet\n` +
    `Copy ${file} to the data directory of every other server of this database. Servers read it again within 30 s.\n` +
    'Then run the same command again: it seals every record with the new key.\n'
  );
}
