import { Deleted, PutSecret, Secret, SecretList } from '@croft/protocol';
import { defineRoute } from '../platform/route.ts';

export const secretRoutes = [
  defineRoute({
    method: 'GET',
    path: '/secrets',
    summary: 'Lists the names of the secrets; their values are never answered',
    scopes: ['read'],
    answer: SecretList,
    handle: async ({ registry }, { actor }) => ({ body: { secrets: await registry.secrets.list(actor) } }),
  }),
  defineRoute({
    method: 'PUT',
    path: '/secrets/{name}',
    summary: 'Writes a secret',
    scopes: ['write'],
    body: PutSecret,
    answer: Secret,
    failures: ['E_QUOTA'],
    handle: async ({ registry }, { actor, params, body }) => ({
      body: await registry.secrets.put(actor, params.name, body),
    }),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/secrets/{name}',
    summary: 'Deletes a secret',
    scopes: ['write'],
    answer: Deleted,
    failures: ['E_NOT_FOUND', 'E_IN_USE'],
    async handle({ registry }, { actor, params }) {
      await registry.secrets.remove(actor, params.name);
      return { body: { deleted: true } };
    },
  }),
];
