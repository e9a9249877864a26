import {
  CreateSnapshot,
  Deleted,
  type Snapshot,
  SnapshotAnswer,
  SnapshotDiff,
  SnapshotDiffQuery,
  SnapshotList,
  SnapshotMade,
  SnapshotRestored,
} from '@croft/protocol';
import { parseRequestBody } from '../../core/accounts/configs/parse-request-body.ts';
import { toTreeReportOutput } from '../../core/history/outputs/tree-report-output.ts';
import type * as history from '../../core/history/ports/history.ts';
import { toDiffAnswer } from '../files/diff-answer.ts';
import { historyOf } from '../platform/account-histories.ts';
import { auditedHistoryChange, mustHaveSnapshot } from '../platform/audited-history-change.ts';
import type { RestPlatform } from '../platform/rest-platform.ts';
import { defineRoute, type RouteAnswer, type RouteCall } from '../platform/route.ts';

const failures = ['E_NOT_FOUND'] as const;

/** Snapshots of a workspace, for callers with a key of its account. */
export const snapshotRoutes = [
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/snapshots',
    summary: 'Lists the snapshots of a workspace, newest first',
    scopes: ['read'],
    ofFlags: true,
    answer: SnapshotList,
    failures,
    async handle(platform, call) {
      const snapshots = await (await historyOf(platform, call)).snapshots();
      return { body: { snapshots: snapshots.map(toView) } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/workspaces/{workspaceId}/snapshots',
    summary: 'Remembers all files of a workspace under a name; one of the same name is replaced',
    scopes: ['write'],
    ofFlags: true,
    body: CreateSnapshot,
    status: 201,
    answer: SnapshotMade,
    failures,
    async handle(platform, call) {
      const history = await historyOf(platform, call);
      const wanted = parseRequestBody(CreateSnapshot, call.body);
      const { name, description, includeIgnored = false } = wanted;
      const { signal } = call.request;
      const change = { action: 'snapshot.create', details: { name } } as const;
      const { replaced = false, ...made } = await auditedHistoryChange(platform, call, change, () =>
        history.snapshot({ name, description, includeIgnored, signal }),
      );
      return { body: { snapshot: toView(made), replaced } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/snapshots/{name}',
    summary: 'Shows a snapshot',
    scopes: ['read'],
    ofFlags: true,
    answer: SnapshotAnswer,
    failures,
    async handle(platform, call) {
      const found = await mustHaveSnapshot(await historyOf(platform, call), call.params.name);
      return { body: { snapshot: toView(found) } };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/workspaces/{workspaceId}/snapshots/{name}',
    summary: 'Forgets a snapshot; the files stay as they are',
    scopes: ['write'],
    ofFlags: true,
    answer: Deleted,
    failures,
    async handle(platform, call) {
      const history = await historyOf(platform, call);
      const { name } = await mustHaveSnapshot(history, call.params.name);
      await auditedHistoryChange(platform, call, { action: 'snapshot.remove', details: { name } }, () =>
        history.remove(name),
      );
      return { body: { deleted: true } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/snapshots/{name}/diff',
    summary: 'Compares the files as they are now, or another snapshot, with a snapshot',
    scopes: ['read'],
    ofFlags: true,
    query: SnapshotDiffQuery,
    answer: SnapshotDiff,
    failures,
    async handle(platform, call) {
      const { params, query, request } = call;
      const from = { from: params.name, to: query.to, signal: request.signal };
      const diffs = await (await historyOf(platform, call)).diff(from);
      return { body: toDiffAnswer(diffs) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/workspaces/{workspaceId}/snapshots/{name}/restore',
    summary: 'Makes the files what they were; what was there before becomes a snapshot too',
    scopes: ['write'],
    ofFlags: true,
    answer: SnapshotRestored,
    failures: [...failures, 'E_CONFLICT'],
    async handle(platform, call) {
      const history = await historyOf(platform, call);
      const { name } = await mustHaveSnapshot(history, call.params.name);
      return restore(platform, call, history, { name });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/workspaces/{workspaceId}/restore-green',
    summary: 'Makes the files what they were when tests last passed',
    scopes: ['write'],
    ofFlags: true,
    answer: SnapshotRestored,
    failures: [...failures, 'E_CONFLICT'],
    handle: async (platform, call) => restore(platform, call, await historyOf(platform, call), 'green'),
  }),
];

async function restore(
  platform: RestPlatform,
  call: RouteCall<{ readonly workspaceId: string }>,
  history: history.History,
  target: { name: string } | 'green',
): Promise<RouteAnswer> {
  const { signal } = call.request;
  const title = target === 'green' ? target : target.name;
  const by = { tool: 'snapshot_restore', session: call.actor.label, title };
  const change = { action: 'snapshot.restore', details: { name: title } } as const;
  const { snapshot, report } = await auditedHistoryChange(platform, call, change, () =>
    history.record(by, () => history.restore(target, signal)),
  );
  return { body: { snapshot, ...toTreeReportOutput(report) } };
}

function toView({ root: hash, isAutomatic, checks = [], missed, ...rest }: history.Snapshot): Snapshot {
  const named = missed?.map((path) => path.toWellFormed());
  return { ...rest, hash, isAutomatic: isAutomatic ?? false, checks: [...checks], ...(named && { missed: named }) };
}
