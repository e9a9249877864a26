import {
  AccountAnswer,
  AccountList,
  AccountMade,
  AccountRemoved,
  AccountRotated,
  type CreateAccount,
  type PatchAccount,
} from '@croft/protocol';
import type { z } from 'zod';
import { type ChangeOptions, type CreateOptions, createCollections, toHeaders } from './collections.ts';
import { type PageOptions, readAll } from './pages.ts';
import { path, type Request } from './request.ts';
import { createRunners } from './runners.ts';

/** Client for one account: the key's own at `/v1/account`, or any account for the admin. */
export function createAccount(request: Request, root: string) {
  return {
    get: async () => (await request('GET', root, { answer: AccountAnswer })).account,
    patch: async (body: z.input<typeof PatchAccount>, change: ChangeOptions = {}) =>
      (await request('PATCH', root, { answer: AccountAnswer, body, headers: toHeaders(change) })).account,
    /** Removes the account with everything in it. Returns what was removed. May be repeated. */
    remove: async (change: ChangeOptions = {}) =>
      (await request('DELETE', root, { answer: AccountRemoved, headers: toHeaders(change) })).cleanup,
    /** Replaces the account's first secret. The old one stops working at once. */
    rotateSecret: ({ idempotencyKey }: CreateOptions = {}) =>
      request('POST', `${root}/rotate-secret`, {
        answer: AccountRotated,
        headers: { 'idempotency-key': idempotencyKey },
      }),
  };
}

/** Client for the admin. */
export function createAdmin(request: Request) {
  const list = (page: PageOptions = {}) => request('GET', '/accounts', { answer: AccountList, query: { ...page } });
  return {
    create: (body: z.input<typeof CreateAccount>, { idempotencyKey }: CreateOptions = {}) =>
      request('POST', '/accounts', { answer: AccountMade, body, headers: { 'idempotency-key': idempotencyKey } }),
    list,
    all: () => readAll(list, ({ accounts }) => accounts),
    /** Acts in one account. */
    in(accountId: string) {
      const root = path`/accounts/${accountId}`;
      return {
        ...createAccount(request, root),
        ...createCollections(request, root),
        runners: createRunners(request, root),
      };
    },
  };
}
