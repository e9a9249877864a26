import {
  CallsUndone,
  type Checkpoint,
  CheckpointDiff,
  CheckpointList,
  CheckpointQuery,
  UndoCalls,
} from '@croft/protocol';
import { parseRequestBody } from '../../core/accounts/configs/parse-request-body.ts';
import { toCheckpointOutput, toTreeReportOutput } from '../../core/history/outputs/tree-report-output.ts';
import type * as history from '../../core/history/ports/history.ts';
import { toDiffAnswer } from '../files/diff-answer.ts';
import { historyOf, pastOf } from '../platform/account-histories.ts';
import { auditedHistoryChange } from '../platform/audited-history-change.ts';
import { defineRoute } from '../platform/route.ts';

/** Lists what tool calls changed in a workspace, and undoes it. */
export const checkpointRoutes = [
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/checkpoints',
    summary: 'Lists the last calls that changed files of a workspace, newest first',
    scopes: ['read'],
    ofFlags: true,
    query: CheckpointQuery,
    answer: CheckpointList,
    failures: ['E_NOT_FOUND'],
    async handle(platform, call) {
      const checkpoints = await (await historyOf(platform, call)).checkpoints(call.query.limit);
      return { body: { checkpoints: checkpoints.map(toView) } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/checkpoints/{checkpointId}/diff',
    summary: 'Shows what one call changed',
    scopes: ['read'],
    ofFlags: true,
    answer: CheckpointDiff,
    failures: ['E_NOT_FOUND'],
    async handle(platform, call) {
      const past = await pastOf(platform, call);
      const { checkpoint, changes } = await past.diffOf(call.params.checkpointId, call.request.signal);
      return { body: { checkpoint: toView(checkpoint), ...toDiffAnswer(changes) } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/workspaces/{workspaceId}/undo',
    summary: 'Takes back what the last calls changed, or one of them: all of it or nothing',
    scopes: ['write'],
    ofFlags: true,
    body: UndoCalls,
    answer: CallsUndone,
    failures: ['E_NOT_FOUND', 'E_CONFLICT'],
    async handle(platform, call) {
      const history = await historyOf(platform, call);
      const { calls = 1, checkpointId } = parseRequestBody(UndoCalls, call.body);
      const target = checkpointId === undefined ? { count: calls } : { id: checkpointId };
      const targets = await findTargets(history, target);
      const title = targets.map(({ call: { tool, title: about } }) => `${tool} ${about}`.trim()).join(', ');
      const by = { tool: 'undo', session: call.actor.label, title: title || (checkpointId ?? '') };
      // Rows of the trail name calls by their ids: their titles are sealed there.
      const details = { ...target, calls: targets.flatMap(({ call: { id } }) => id ?? []) };
      const { undone, report } = await auditedHistoryChange(platform, call, { action: 'undo', details }, () =>
        history.record(by, () => history.undo(target, call.request.signal)),
      );
      return { body: { undone: undone.map(toView), ...toTreeReportOutput(report) } };
    },
  }),
];

/** Checkpoints in which a person finds what to undo. */
const searchedCheckpoints = 200;

/** What would be undone, as far as it is known before. The undo itself decides. */
async function findTargets(history: history.History, target: { count: number } | { id: string }) {
  const all = await history.checkpoints(searchedCheckpoints);
  if ('id' in target) return all.filter(({ id }) => id === target.id);
  return all.filter(({ undoneBy }) => undoneBy === undefined).slice(0, target.count);
}

function toView(checkpoint: history.Checkpoint): Checkpoint {
  const { checkpoint: checkpointId, isPartial, ...rest } = toCheckpointOutput(checkpoint);
  const { id: call } = checkpoint.call;
  return { checkpointId, ...rest, ...(call !== undefined && { call }), ...(isPartial && { isPartial }) };
}
