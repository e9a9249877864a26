import { ApprovalAnswer, ApprovalList, ApprovalQuery, DecideApproval } from '@croft/protocol';
import { defineRoute } from '../route.ts';

/** Whoever may decide may see what there is to decide. */
export const approvalRoutes = [
  defineRoute({
    method: 'GET',
    path: '/approvals',
    summary: 'Lists the approvals, newest first',
    scopes: ['read', 'approve'],
    query: ApprovalQuery,
    answer: ApprovalList,
    async handle({ approvals: desk }, { actor, query: { state, agentId, limit, after } }) {
      const { rows: approvals, next } = await desk.list(actor, { state, agentId }, { limit, after });
      return { body: { approvals, next } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/approvals/{approvalId}',
    summary: 'Shows an approval: exactly what would run, and what a person is shown of it',
    scopes: ['read', 'approve'],
    answer: ApprovalAnswer,
    failures: ['E_NOT_FOUND'],
    handle: async ({ approvals: desk }, { actor, params }) => ({
      body: { approval: await desk.get(actor, params.approvalId) },
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/approvals/{approvalId}',
    summary: 'Decides it',
    scopes: ['approve'],
    body: DecideApproval,
    answer: ApprovalAnswer,
    failures: ['E_NOT_FOUND', 'E_APPROVAL_SETTLED'],
    handle: async ({ approvals: desk }, { actor, params, body }) => ({
      body: { approval: await desk.decide(actor, params.approvalId, body) },
    }),
  }),
];
