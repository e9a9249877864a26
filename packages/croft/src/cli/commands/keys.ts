import { openSealed } from '../../app/sealed-records.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { defineCommand } from '../command.ts';
import { addKey, findKeys } from '../key-file.ts';

export const keys = defineCommand({
  name: 'keys',
  usage: 'croft keys rotate [--data DIR] [--database-url URL]',
  summary: 'make a new key and seal every record with it; servers must be started again to know it',
  options: {
    data: { type: 'string', value: 'DIR', summary: 'where croft keeps what is its own' },
    'database-url': { type: 'string', value: 'URL', summary: 'PostgreSQL for records' },
  },
  async run({ values, positionals }, terminal) {
    if (positionals.join(' ') !== 'rotate') throw new UsageError(`usage: ${keys.usage}`);
    const config = terminal.config();
    const data = values.data ?? config.data;
    const known = findKeys(data, config.keys);
    const databaseUrl = values['database-url'] ?? config.databaseUrl;
    const open = (held: typeof known) => openSealed({ data, databaseUrl, keys: held });
    // Keys that do not fit get no new one.
    await (await open(known))[Symbol.asyncDispose]();
    // From the environment the operator has put the new one first already.
    const ring = known.file === undefined ? known : addKey(known);
    await using sealed = await open(ring);
    const count = await sealed.resealAll();
    terminal.stdout.write(`sealed ${count} records with key ${ring.ring[0]?.id}\n`);
    return 0;
  },
});
