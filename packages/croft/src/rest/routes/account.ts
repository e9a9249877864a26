import { AccountAnswer, AccountRemoved, AccountRotated, PatchAccount } from '@croft/protocol';
import { mustFitVersion } from '../../core/accounts/refusals.ts';
import { defineRoute } from '../route.ts';
import { inTransaction } from '../transaction.ts';

export const removeAccountRoute = defineRoute({
  method: 'DELETE',
  path: '/account',
  summary: 'Deletes the account with everything of it, and says what that was; may be tried again',
  // No part of an account may end all of it.
  scopes: ['*'],
  mirrored: true,
  conditional: true,
  answer: AccountRemoved,
  async handle({ registry: { accounts }, removeFiles }, { actor, expect }) {
    const { accountId, label } = actor;
    mustFitVersion('Account', (await accounts.get(accountId)).version, expect);
    const cleanup = await accounts.remove(label, accountId, (workspaceIds) => removeFiles(accountId, workspaceIds));
    return { body: { deleted: true, cleanup } };
  },
});

export const accountRecordRoutes = [
  defineRoute({
    method: 'GET',
    path: '/account',
    summary: 'Shows the account',
    scopes: ['read'],
    mirrored: true,
    versioned: true,
    answer: AccountAnswer,
    async handle({ registry }, { actor }) {
      const account = await registry.accounts.get(actor.accountId);
      return { body: { account }, version: account.version };
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/account',
    summary: 'Changes the account; a description of null takes it away',
    scopes: ['write'],
    mirrored: true,
    versioned: true,
    conditional: true,
    body: PatchAccount,
    answer: AccountAnswer,
    handle: (platform, { actor, body, expect }) =>
      inTransaction(platform, async ({ registry: { accounts } }) => {
        mustFitVersion('Account', (await accounts.get(actor.accountId)).version, expect);
        const account = await accounts.patch(actor.label, actor.accountId, body);
        return { body: { account }, version: account.version };
      }),
  }),
  removeAccountRoute,
  defineRoute({
    method: 'POST',
    path: '/account/rotate-secret',
    summary: 'A new secret in the place of the account’s first one, which goes at once',
    // Whoever gets the answer may do everything.
    scopes: ['*'],
    mirrored: true,
    versioned: true,
    creates: true,
    answer: AccountRotated,
    async handle({ registry }, { actor }) {
      const { account, secret } = await registry.accounts.rotateSecret(actor.label, actor.accountId);
      return { body: { account, secret }, version: account.version };
    },
  }),
];
