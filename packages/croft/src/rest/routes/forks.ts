import { CreateFork, ForkAnswer, ForkList, ForkMerged, MergeFork } from '@croft/protocol';
import { parseRequestBody } from '../../core/accounts/configs/parse-request-body.ts';
import { toTreeReportOutput } from '../../core/history/outputs/tree-report-output.ts';
import { forksOf } from '../platform/account-histories.ts';
import { defineRoute } from '../platform/route.ts';

const failures = ['E_NOT_FOUND', 'E_INVALID_INPUT'] as const;

/** Forks of a workspace, for callers with a key of its account. */
export const forkRoutes = [
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/forks',
    summary: 'Lists the forks of a workspace',
    scopes: ['read'],
    answer: ForkList,
    failures,
    handle: async (platform, call) => ({ body: { forks: await (await forksOf(platform, call)).list() } }),
  }),
  defineRoute({
    method: 'POST',
    path: '/workspaces/{workspaceId}/forks',
    summary: 'Makes a workspace that starts as this one is, or as a snapshot of it was',
    scopes: ['write'],
    body: CreateFork,
    status: 201,
    answer: ForkAnswer,
    failures: [...failures, 'E_ALREADY_EXISTS', 'E_QUOTA'],
    async handle(platform, call) {
      const forks = await forksOf(platform, call);
      const wanted = parseRequestBody(CreateFork, call.body);
      const { signal } = call.request;
      const fork = await forks.fork({ ...wanted, session: call.actor.label, signal });
      return { body: { fork } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/workspaces/{workspaceId}/merge',
    summary: 'Brings what a fork changed since it was made, or last merged, into the workspace it was forked from',
    scopes: ['write'],
    body: MergeFork,
    answer: ForkMerged,
    failures: [...failures, 'E_CONFLICT'],
    async handle(platform, call) {
      const forks = await forksOf(platform, call);
      const { fork, onConflict } = parseRequestBody(MergeFork, call.body);
      const { report, merged, conflicts } = await forks.merge({ fork, onConflict, signal: call.request.signal });
      const { takenBackBy: _, ...paths } = toTreeReportOutput(report);
      const named = conflicts.map(({ path, reason }) => ({ path: path.toWellFormed(), reason }));
      return { body: { ...paths, merged: merged.map((path) => path.toWellFormed()), conflicts: named } };
    },
  }),
];
