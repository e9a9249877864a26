import { CreateSandbox, LiveSandboxes, Sandbox, SandboxList } from '@croft/protocol';
import { defineRoute } from '../platform/route.ts';
import { collectionRoutes } from './collection-routes.ts';

const records = collectionRoutes({
  name: 'sandboxes',
  one: 'a sandbox',
  id: 'sandboxId',
  create: CreateSandbox,
  record: Sandbox,
  list: SandboxList,
});

export const sandboxRoutes = [
  ...records,
  defineRoute({
    method: 'GET',
    path: '/sandboxes/{sandboxId}/live',
    summary: 'The sandboxes of this definition that are open on this server, what they use, and where they listen',
    scopes: ['read'],
    ofFlags: true,
    answer: LiveSandboxes,
    failures: ['E_NOT_FOUND'],
    async handle({ registry, openSandboxes }, { actor, params }) {
      await registry.sandboxes.get(actor, params.sandboxId);
      return { body: await openSandboxes.live(actor.accountId, params.sandboxId) };
    },
  }),
];
