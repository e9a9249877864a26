import { Agent, AgentList, AgentMade, CreateAgent } from '@croft/protocol';
import { collectionRoutes } from './collection.ts';

export const agentRoutes = collectionRoutes({
  name: 'agents',
  one: 'an agent',
  id: 'agentId',
  create: CreateAgent,
  record: Agent,
  list: AgentList,
  made: { schema: AgentMade, fields: ['accountId', 'agentId', 'name', 'description'] },
});
