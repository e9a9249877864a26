import { join } from 'node:path';
import { createClient } from '@croft/sdk';
import { readOwner } from '../../app/server/claim-data-directory.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineCommand, type Options, type Values } from '../command.ts';
import { readSecret, reportingErrors } from '../open-client.ts';
import { pageUrl } from '../serve/page-url.ts';

const options = {
  server: {
    type: 'string',
    value: 'URL',
    summary: 'the server (that of the data directory, or http://127.0.0.1:7070)',
  },
  'key-file': {
    type: 'string',
    value: 'FILE',
    summary: 'a file that holds a key of an account (the operator, with the admin token of the data directory)',
  },
  data: { type: 'string', value: 'DIR', summary: 'the data directory of the server' },
} as const satisfies Options;

export const open = defineCommand({
  name: 'open',
  usage: 'croft open [--server URL] [--key-file FILE | --data DIR]',
  examples: ['croft open'],
  options,
  takesOnlyFlags: true,
  run: ({ values }, terminal) =>
    reportingErrors(terminal, async () => {
      const data = values.data ?? terminal.config().data;
      const baseUrl = values.server ?? readOwner(data)?.address ?? 'http://127.0.0.1:7070';
      if (!URL.canParse(baseUrl)) throw new UsageError(`--server takes a URL, not ${baseUrl}`);
      const client = createClient({ baseUrl, token: findSecret(values, terminal) });
      const { path } = await client.session.link();
      terminal.stdout.write(`${pageUrl(baseUrl)}${path}\n`);
      return 0;
    }),
});

function findSecret({ 'key-file': file, data }: Values<typeof options>, terminal: CommandContext): string {
  if (file !== undefined) return readSecret(file);
  const config = terminal.config();
  return config.adminToken ?? readSecret(join(data ?? config.data, 'admin-token'));
}
