import {
  ApprovalAnswer,
  ApprovalList,
  type ApprovalState,
  AuditList,
  type AuditQuery,
  AuditVerdict,
} from '@croft/protocol';
import type { z } from 'zod';
import { type PageOptions, readAll } from './pages.ts';
import { path, type Request } from './request.ts';

export interface ApprovalFilter {
  readonly state?: z.output<typeof ApprovalState> | undefined;
  readonly agentId?: string | undefined;
}

export interface DecisionOptions {
  readonly reason?: string | undefined;
  /** For this call alone, or for every call of its session that is exactly the same. */
  readonly scope?: 'once' | 'session' | undefined;
}

export function createApprovals(request: Request) {
  const list = (query: ApprovalFilter & PageOptions = {}) =>
    request('GET', '/v1/approvals', { answer: ApprovalList, query: { ...query } });
  const decide = async (id: string, body: DecisionOptions & { readonly decision: 'approve' | 'deny' }) =>
    (await request('POST', path`/v1/approvals/${id}`, { answer: ApprovalAnswer, body })).approval;
  return {
    list,
    all: (filter: ApprovalFilter = {}) =>
      readAll(
        (page) => list({ ...filter, ...page }),
        ({ approvals }) => approvals,
      ),
    get: async (id: string) => (await request('GET', path`/v1/approvals/${id}`, { answer: ApprovalAnswer })).approval,
    approve: (id: string, options: DecisionOptions = {}) => decide(id, { decision: 'approve', ...options }),
    deny: (id: string, options: Omit<DecisionOptions, 'scope'> = {}) => decide(id, { decision: 'deny', ...options }),
  };
}

export type AuditFilter = Omit<z.input<typeof AuditQuery>, 'limit' | 'after'>;

export function createAudit(request: Request) {
  const list = (query: AuditFilter & PageOptions = {}) =>
    request('GET', '/v1/audit', { answer: AuditList, query: { ...query } });
  return {
    list,
    all: (filter: AuditFilter = {}) =>
      readAll(
        (page) => list({ ...filter, ...page }),
        ({ audit }) => audit,
      ),
    /** Checks every row of the trail of the server, and names one that was changed. */
    check: () => request('GET', '/v1/audit/check', { answer: AuditVerdict }),
  };
}
