import { AccountAnswer, AccountRemoved, AccountRotated, PatchAccount } from '@croft/protocol';
import { mustHaveVersion } from '../../core/accounts/access/registry-errors.ts';
import { inTransaction } from '../platform/in-transaction.ts';
import { defineRoute } from '../platform/route.ts';

export const removeAccountRoute = defineRoute({
  method: 'DELETE',
  path: '/account',
  summary: 'Deletes the account with everything of it, and says what that was; may be tried again',
  // Only a key for everything may delete the account.
  scopes: ['*'],
  mirrored: true,
  conditional: true,
  answer: AccountRemoved,
  async handle({ registry: { accounts }, removeFiles }, { actor, expect }) {
    const { accountId, label } = actor;
    mustHaveVersion('Account', (await accounts.get(accountId)).version, expect);
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
        mustHaveVersion('Account', (await accounts.get(actor.accountId)).version, expect);
        const account = await accounts.patch(actor.label, actor.accountId, body);
        return { body: { account }, version: account.version };
      }),
  }),
  removeAccountRoute,
  defineRoute({
    method: 'POST',
    path: '/account/rotate-secret',
    summary: 'Replaces the account’s first secret; the old one ends at once',
    // The answer contains a secret for everything.
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
