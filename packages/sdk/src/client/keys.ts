import { type CreateKey, Deleted, KeyList, KeyMade, Secret, SecretList } from '@croft/protocol';
import type { z } from 'zod';
import type { CreateOptions } from './collections.ts';
import { type PageOptions, readAll } from './pages.ts';
import { path, type Request } from './request.ts';

/** Keys of an account. The secret of a key is returned when it is created or rotated, and never again. */
export function createKeys(request: Request) {
  const list = (page: PageOptions = {}) => request('GET', '/v1/keys', { answer: KeyList, query: { ...page } });
  return {
    create: (body: z.input<typeof CreateKey>, { idempotencyKey }: CreateOptions = {}) =>
      request('POST', '/v1/keys', { answer: KeyMade, body, headers: { 'idempotency-key': idempotencyKey } }),
    list,
    all: () => readAll(list, ({ keys }) => keys),
    rotate: (keyId: string, { idempotencyKey }: CreateOptions = {}) =>
      request('POST', path`/v1/keys/${keyId}/rotate`, {
        answer: KeyMade,
        headers: { 'idempotency-key': idempotencyKey },
      }),
    revoke: async (keyId: string): Promise<void> => {
      await request('DELETE', path`/v1/keys/${keyId}`, { answer: Deleted });
    },
  };
}

/** Secrets for sandboxes, by name. A value is written and never read back. */
export function createSecrets(request: Request) {
  return {
    put: (name: string, value: string) =>
      request('PUT', path`/v1/secrets/${name}`, { answer: Secret, body: { value } }),
    list: async () => (await request('GET', '/v1/secrets', { answer: SecretList })).secrets,
    remove: async (name: string): Promise<void> => {
      await request('DELETE', path`/v1/secrets/${name}`, { answer: Deleted });
    },
  };
}
