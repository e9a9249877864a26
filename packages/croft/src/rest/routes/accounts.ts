import { AccountList, AccountMade, CreateAccount, PageQuery } from '@croft/protocol';
import { defineRoute } from '../platform/route.ts';

/** Routes over all accounts, for the admin alone. */
export const accountListRoutes = [
  defineRoute({
    method: 'POST',
    path: '/accounts',
    summary: 'Makes an account; its secret is answered this once',
    scopes: ['*'],
    versioned: true,
    creates: true,
    body: CreateAccount,
    status: 201,
    answer: AccountMade,
    async handle({ registry }, { actor, body }) {
      const { account, secret } = await registry.accounts.create(actor.label, body);
      const { accountId, username, description, version } = account;
      return { body: { account: { accountId, username, description }, secret }, version };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/accounts',
    summary: 'Lists the accounts',
    scopes: ['*'],
    query: PageQuery,
    answer: AccountList,
    async handle({ registry }, { query }) {
      const { rows: accounts, next } = await registry.accounts.list(query);
      return { body: { accounts, next } };
    },
  }),
];
