import { openOperatorRecords } from '../../app/records/operator-records.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineCommand, defineGroup } from '../command.ts';
import { addKey, findServerKeys, promoteKey, type ServerKeys } from '../server-keys.ts';

const keys = defineCommand({
  name: 'server keys',
  usage: 'croft server keys rotate [--data DIR] [--database-url URL]',
  options: {
    data: { type: 'string', value: 'DIR', summary: 'the data directory of croft' },
    'database-url': { type: 'string', value: 'URL', summary: 'PostgreSQL for records' },
  },
  async run({ values, positionals }, terminal) {
    if (positionals.join(' ') !== 'rotate') throw new UsageError(`usage: ${keys.usage}`);
    const config = terminal.config();
    const data = values.data ?? config.data;
    const known = findServerKeys(data, config.keys);
    const databaseUrl = values['database-url'] ?? config.databaseUrl;
    const open = (serverKeys: typeof known) => openOperatorRecords({ data, databaseUrl, keys: serverKeys });
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

export const server = defineGroup('server', { keys });

type Sealed = Awaited<ReturnType<typeof openOperatorRecords>>;

async function unusedIn(sealed: Sealed) {
  await using opened = sealed;
  return await opened.unusedKey();
}

async function reseal(sealed: Sealed, { ring }: ServerKeys, { stdout }: CommandContext): Promise<number> {
  await using opened = sealed;
  const count = await opened.resealAll();
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
