import { CreateKey, Deleted, KeyList, KeyMade, PageQuery } from '@croft/protocol';
import { defineRoute } from '../platform/route.ts';

/** The registry makes sure that no caller gets a key with more rights than its own. */
export const keyRoutes = [
  defineRoute({
    method: 'POST',
    path: '/keys',
    summary: 'Makes a key; its secret is answered this once',
    scopes: ['write'],
    ofAgents: true,
    creates: true,
    body: CreateKey,
    status: 201,
    answer: KeyMade,
    failures: ['E_QUOTA'],
    handle: async ({ registry }, { actor, body }) => ({ body: await registry.keys.create(actor, body) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/keys',
    summary: 'Lists the keys, without their secrets',
    scopes: ['read'],
    ofAgents: true,
    query: PageQuery,
    answer: KeyList,
    async handle({ registry }, { actor, query }) {
      const { rows: keys, next } = await registry.keys.list(actor, query);
      return { body: { keys, next } };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/keys/{keyId}',
    summary: 'Revokes a key',
    scopes: ['write'],
    ofAgents: true,
    answer: Deleted,
    failures: ['E_NOT_FOUND'],
    async handle({ registry }, { actor, params }) {
      await registry.keys.revoke(actor, params.keyId);
      return { body: { deleted: true } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/keys/{keyId}/rotate',
    summary: 'Replaces a key; the old one ends at once',
    scopes: ['write'],
    ofAgents: true,
    creates: true,
    answer: KeyMade,
    failures: ['E_NOT_FOUND'],
    handle: async ({ registry }, { actor, params }) => ({ body: await registry.keys.rotate(actor, params.keyId) }),
  }),
];
