import { CreateSandbox, Sandbox, SandboxList } from '@croft/protocol';
import { collectionRoutes } from './collection-routes.ts';

export const sandboxRoutes = collectionRoutes({
  name: 'sandboxes',
  one: 'a sandbox',
  id: 'sandboxId',
  create: CreateSandbox,
  record: Sandbox,
  list: SandboxList,
});
