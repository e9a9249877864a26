import { ApprovalAnswer, ApprovalList, ApprovalQuery, DecideApproval } from '@croft/protocol';
import { defineRoute } from '../platform/route.ts';

/** A key that may decide approvals may also read them. */
export const approvalRoutes = [
  defineRoute({
    method: 'GET',
    path: '/approvals',
    summary: 'Lists the approvals, newest first',
    scopes: ['read', 'approve'],
    ofFlags: true,
    ofAgents: true,
    query: ApprovalQuery,
    answer: ApprovalList,
    async handle({ approvals: inbox }, { actor, query: { state, agentId, limit, after } }) {
      const { rows: approvals, next } = await inbox.list(actor, { state, agentId }, { limit, after });
      return { body: { approvals, next } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/approvals/{approvalId}',
    summary: 'Shows an approval: exactly what would run, and what a person is shown of it',
    scopes: ['read', 'approve'],
    ofFlags: true,
    ofAgents: true,
    answer: ApprovalAnswer,
    failures: ['E_NOT_FOUND'],
    handle: async ({ approvals: inbox }, { actor, params }) => ({
      body: { approval: await inbox.get(actor, params.approvalId) },
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/approvals/{approvalId}',
    summary: 'Decides an approval',
    scopes: ['approve'],
    ofFlags: true,
    ofAgents: true,
    body: DecideApproval,
    answer: ApprovalAnswer,
    failures: ['E_NOT_FOUND', 'E_APPROVAL_SETTLED'],
    handle: async ({ approvals: inbox }, { actor, params, body }) => ({
      body: { approval: await inbox.decide(actor, params.approvalId, body) },
    }),
  }),
];
