import { AppError, AuditHead, AuditList, AuditQuery, AuditVerdict } from '@croft/protocol';
import type { AuditVerdict as Verdict } from '../../core/accounts/audit/verify-audit.ts';
import type { RestPlatform } from '../platform/rest-platform.ts';
import { defineRoute, type RouteAnswer } from '../platform/route.ts';

export const auditRoutes = [
  defineRoute({
    method: 'GET',
    path: '/audit',
    summary: 'What happened in the account, in order or newest first',
    scopes: ['read'],
    ofFlags: true,
    query: AuditQuery,
    answer: AuditList,
    async handle({ registry }, { actor, query }) {
      const { rows: audit, next, position } = await registry.audit.list(actor, query);
      return { body: { audit, next, position } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/audit/check',
    summary:
      'Checks every row of the audit trail of this server and names a row that was changed, put in or taken out; one ' +
      'check at a time, for all who ask meanwhile',
    scopes: ['read'],
    ofFlags: true,
    answer: AuditVerdict,
    failures: ['E_NOT_FOUND'],
    handle: async (platform) => toAnswer(await trailOf(platform).verifyShared()),
  }),
];

/** Routes of the whole audit trail, for the admin alone, because one trail covers all accounts. */
export const auditTrailRoutes = [
  defineRoute({
    method: 'GET',
    path: '/audit/verify',
    summary: 'Checks the audit trail of all accounts, every row and against the head that this server keeps',
    scopes: ['*'],
    answer: AuditVerdict,
    handle: async (platform) => toAnswer(await trailOf(platform).verify()),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit/head',
    summary:
      'How many rows the audit trail has and the hash of the last, signed; keep it elsewhere, to compare with later',
    scopes: ['*'],
    answer: AuditHead,
    async handle(platform) {
      const head = trailOf(platform).head();
      if (head === undefined)
        throw new AppError('E_NOT_FOUND', 'the audit trail has no row yet, and so no head', {
          hint: 'The first call or change writes a row.',
        });
      return { body: JSON.parse(head) };
    },
  }),
];

function toAnswer({ isWhole, broken, ...verdict }: Verdict): RouteAnswer {
  return { body: { whole: isWhole, ...verdict, ...(broken && { broken }) } };
}

function trailOf({ audit }: Pick<RestPlatform, 'audit'>): NonNullable<RestPlatform['audit']> {
  if (!audit)
    throw new AppError('E_NOT_FOUND', 'this server keeps no head of the audit trail', {
      hint: 'Ask a server that has accounts.',
    });
  return audit;
}
