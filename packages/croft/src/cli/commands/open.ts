import { join } from 'node:path';
import { readOwner } from '../../app/server/claim-data.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { clientOptions, readSecret, reportingErrors } from '../client.ts';
import { defineCommand } from '../command.ts';
import { makeSignInLink } from '../sign-in-link.ts';

const { account: _, ...options } = clientOptions;

export const open = defineCommand({
  name: 'open',
  usage: 'croft open [--server URL] [--key-file FILE] [--data DIR]',
  summary: 'print a link that opens the page signed in, once, within a minute',
  options,
  takesOnlyFlags: true,
  run: ({ values }, terminal) =>
    reportingErrors(terminal, async () => {
      const config = terminal.config();
      const data = values.data ?? config.data;
      const server = values.server ?? readOwner(data)?.address ?? 'http://127.0.0.1:7070';
      if (!URL.canParse(server)) throw new UsageError(`--server takes a URL, not ${server}`);
      const keyFile = values['key-file'];
      const token = keyFile !== undefined ? readSecret(keyFile) : (config.token ?? readSecret(join(data, 'token')));
      terminal.stdout.write(`${await makeSignInLink(server, token)}\n`);
      return 0;
    }),
});
