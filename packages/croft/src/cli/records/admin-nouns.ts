import type { Account } from '@croft/protocol';
import type { Options } from '../command.ts';
import { openAdmin } from '../open-client.ts';
import { defineCreation, type Made } from './noun.ts';
import { toCommandGroup } from './to-command-group.ts';

/** Nouns of the admin of a server, who has the token of its data directory. */

const adminOptions = {
  server: { type: 'string', value: 'URL', summary: 'the server (that of the data directory)' },
  data: { type: 'string', value: 'DIR', summary: 'the data directory of the server, which has the token of its admin' },
} as const satisfies Options;

type Admin = ReturnType<typeof openAdmin>;

export const accounts = toCommandGroup({
  ...{ name: 'accounts', one: 'account', example: 'ann', options: adminOptions, open: openAdmin },
  idOf: ({ accountId }: Account) => accountId,
  nameOf: ({ username }) => username,
  columns: {
    id: ({ accountId }) => accountId,
    name: ({ username }) => username,
    status: ({ status }) => status,
    created: ({ createdAt }) => createdAt,
  },
  list: (admin: Admin) => Array.fromAsync(admin.all()),
  create: defineCreation({
    usage: 'NAME [--description TEXT]',
    isNamed: true,
    options: { description: { type: 'string', value: 'TEXT', summary: 'whose it is' } },
    examples: ['ann > ~/ann.key'],
    async run(admin: Admin, username, { description }): Promise<Made> {
      const answer = await admin.create({ username, description });
      const about =
        `the key of the account ${username}, which is shown this once and may do everything in it. ` +
        'Keep it in a file, and sign in with: croft login URL --key-file FILE';
      return { answer, id: answer.account.accountId, secret: { value: answer.secret, about } };
    },
  }),
  remove: async (admin, { accountId }) => void (await admin.in(accountId).remove()),
  rotate: async (admin, { accountId, username }) => {
    const answer = await admin.in(accountId).rotateSecret();
    const about = `the new key of the account ${username}, which is shown this once; the old one has ended`;
    return { answer, id: accountId, secret: { value: answer.secret, about } };
  },
});
