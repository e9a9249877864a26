import { once } from 'node:events';
import { openSealed } from '../../app/sealed-records.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { defineCommand, type Terminal } from '../command.ts';
import { findKeys } from '../key-file.ts';

export const audit = defineCommand({
  name: 'audit',
  usage: 'croft audit (export [--account ID] | verify) [--data DIR] [--database-url URL]',
  summary: 'print the audit trail, a JSON line each, or check that nothing in it was changed',
  options: {
    account: { type: 'string', value: 'ID', summary: 'only of this account' },
    data: { type: 'string', value: 'DIR', summary: 'where croft keeps what is its own' },
    'database-url': { type: 'string', value: 'URL', summary: 'PostgreSQL for records' },
  },
  async run({ values, positionals }, terminal) {
    const action = positionals.join(' ');
    if (action !== 'export' && action !== 'verify') throw new UsageError(`usage: ${audit.usage}`);
    const config = terminal.config();
    const data = values.data ?? config.data;
    const databaseUrl = values['database-url'] ?? config.databaseUrl;
    await using sealed = await openSealed({ data, databaseUrl, keys: findKeys(data, config.keys) });
    // Waited for, because the records are closed when this returns.
    if (action === 'verify') return await verify(sealed, terminal);
    for await (const row of sealed.auditRows(values.account)) {
      if (!terminal.stdout.write(`${JSON.stringify(row)}\n`)) await once(terminal.stdout, 'drain');
    }
    return 0;
  },
});

async function verify(sealed: Awaited<ReturnType<typeof openSealed>>, { stdout }: Terminal): Promise<number> {
  const { rows, broken } = await sealed.verifyAudit();
  const isWhole = broken === undefined;
  stdout.write(isWhole ? `${rows} rows, each follows from the one before\n` : `broken at row ${broken}\n`);
  return isWhole ? 0 : 1;
}
