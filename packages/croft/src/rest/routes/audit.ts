import { AuditList, AuditQuery } from '@croft/protocol';
import { defineRoute } from '../route.ts';

export const auditRoutes = [
  defineRoute({
    method: 'GET',
    path: '/audit',
    summary: 'What happened in the account, in order',
    scopes: ['read'],
    query: AuditQuery,
    answer: AuditList,
    async handle({ registry }, { actor, query }) {
      const { rows: audit, next } = await registry.audit.list(actor, query);
      return { body: { audit, next } };
    },
  }),
];
