import type { z } from 'zod';
import type { History } from '../../core/history/history.ts';
import type { Method } from '../../link/methods/common.ts';
import { maxListBytes } from '../../link/methods/files.ts';
import * as methods from '../../link/methods/history.ts';
import type { Asking } from './asking.ts';
import { firstTold } from './first-told.ts';

const { answerChannel } = methods;

/** Answers of a history come when they come: a large tree takes its time. */
export function createAskHistory(asking: Asking) {
  return <Params extends z.ZodType, Schema extends z.ZodType>(
    method: Method<Params>,
    params: z.input<Params>,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> =>
    asking.begin(method, params, { signal, idleMs: null }).withJson(answerChannel, maxListBytes, schema);
}

/** What a workspace of a runner was. It is kept there. */
export function createRemoteHistory(asking: Asking, place: string): History {
  const ask = createAskHistory(asking);
  return {
    snapshot: ({ signal, ...wanted }) => ask(methods.takeSnapshot, { place, ...wanted }, methods.TakenSnapshot, signal),
    snapshots: () => ask(methods.listSnapshots, { place }, methods.Snapshots),
    diff: ({ from, to, signal }) => ask(methods.diffSnapshots, { place, from, to }, methods.FileDiffs, signal),
    restore: (target, signal) => ask(methods.restoreSnapshot, { place, target }, methods.Restored, signal),
    async remove(name) {
      await asking.ask(methods.removeSnapshot, { place, name });
    },
    record: (call, work) => record(asking, { place, call }, work),
    // It is kept there, and what is told would have to go there: looking is cheaper.
    recordTold: (call, work) => record(asking, { place, call }, () => work()),
    checkpoints: (limit) => ask(methods.listCheckpoints, { place, limit }, methods.Checkpoints),
    undo: (what, signal) => ask(methods.undoCalls, { place, what }, methods.Undone, signal),
    // As locally: that it cannot be known or noted is no failure of a check.
    look: async () =>
      (await asking.ask(methods.lookAtTree, { place }, { deadlineMs: null }).catch(() => null)) ?? undefined,
    async learned(check, of) {
      await asking.ask(methods.learnCheck, { place, check, of }, { deadlineMs: null }).catch(() => {});
    },
  };
}

/** As locally, a call does not fail because its history cannot be kept: what it did itself counts. */
async function record<T>(asking: Asking, params: z.input<typeof methods.recordCall.params>, work: () => Promise<T>) {
  const asked = asking.begin(methods.recordCall, params);
  await firstTold(asked, methods.RecordState, asking).catch(() => {});
  try {
    return await work();
  } finally {
    asked.tell({ order: 'over' });
    await asked.soon().catch(() => {});
  }
}
