import { CreateWorkspace, Workspace, WorkspaceList } from '@croft/protocol';
import { collectionRoutes } from './collection-routes.ts';

export const workspaceRoutes = collectionRoutes({
  name: 'workspaces',
  one: 'a workspace',
  id: 'workspaceId',
  create: CreateWorkspace,
  record: Workspace,
  list: WorkspaceList,
});
