import { Agent, AgentList, AgentMade, CreateAgent } from '@croft/protocol';
import { collectionRoutes } from './collection-routes.ts';

export const agentRoutes = collectionRoutes({
  name: 'agents',
  one: 'an agent',
  id: 'agentId',
  ofAgents: true,
  create: CreateAgent,
  record: Agent,
  list: AgentList,
  made: { schema: AgentMade, fields: ['accountId', 'agentId', 'name', 'description'] },
});
