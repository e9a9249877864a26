import type { z } from 'zod';
import type { CheckedWork, History } from '../../core/history/ports/history.ts';
import type { LinkMethod } from '../../link/methods/define-method.ts';
import { maxListBytes } from '../../link/methods/files.ts';
import * as methods from '../../link/methods/history.ts';
import { createRemotePastTrees } from './past-trees.ts';
import type { RpcClient } from './rpc/rpc-client.ts';
import { waitForFirstMessage } from './rpc/wait-for-first-message.ts';

const { answerChannel } = methods;

/** Calls a history method without an idle timeout, because a large tree takes its time. */
export function createHistoryCaller(rpc: RpcClient) {
  return <Params extends z.ZodType, Schema extends z.ZodType>(
    method: LinkMethod<Params>,
    params: z.input<Params>,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> =>
    rpc.begin(method, params, { signal, idleMs: null }).withJson(answerChannel, maxListBytes, schema);
}

interface RemoteHistoryOptions {
  /** Whether the runner reports what checks change. Runners of older releases do not. */
  readonly hasChecks: boolean;
  /** Whether the runner shows earlier trees. Runners of older releases do not. */
  readonly hasPast: boolean;
}

/** The history of a workspace on a runner, which stores it. */
export function createRemoteHistory(
  rpc: RpcClient,
  handle: string,
  { hasChecks, hasPast }: RemoteHistoryOptions,
): History {
  const ask = createHistoryCaller(rpc);
  return {
    ...(hasPast && { past: createRemotePastTrees(rpc, handle) }),
    snapshot: ({ signal, ...wanted }) =>
      ask(methods.takeSnapshot, { place: handle, ...wanted }, methods.TakenSnapshot, signal),
    snapshots: () => ask(methods.listSnapshots, { place: handle }, methods.Snapshots),
    diff: ({ from, to, signal }) => ask(methods.diffSnapshots, { place: handle, from, to }, methods.FileDiffs, signal),
    restore: (target, signal) => ask(methods.restoreSnapshot, { place: handle, target }, methods.Restored, signal),
    async remove(name) {
      await rpc.ask(methods.removeSnapshot, { place: handle, name });
    },
    record: (call, work) => record(rpc, { place: handle, call }, work),
    // The reported content would have to be sent to the runner. A capture there is cheaper.
    recordReported: (call, work) => record(rpc, { place: handle, call }, () => work()),
    recordCheck: (call, work) =>
      hasChecks
        ? recordCheck(rpc, { place: handle, call }, work)
        : recordUnverified(rpc, { place: handle, call }, work),
    async revertChanges(changes) {
      const params = { place: handle, changes: changes.map(methods.toPathChange) };
      return (await rpc.ask(methods.revertChanges, params)).stayed;
    },
    checkpoints: (limit) => ask(methods.listCheckpoints, { place: handle, limit }, methods.Checkpoints),
    undo: (what, signal) => ask(methods.undoCalls, { place: handle, what }, methods.Undone, signal),
    // As with a local history, a check does not fail because the tree cannot be captured or the verdict not recorded.
    captureSource: async () =>
      (await rpc.ask(methods.captureTree, { place: handle }, { deadlineMs: null }).catch(() => null)) ?? undefined,
    async recordVerdict(check, of) {
      await rpc.ask(methods.recordVerdict, { place: handle, check, of }, { deadlineMs: null }).catch(() => {});
    },
  };
}

/** As with a local history, a call does not fail because its history cannot be recorded. */
async function record<T>(rpc: RpcClient, params: z.input<typeof methods.recordCall.params>, work: () => Promise<T>) {
  const asked = rpc.begin(methods.recordCall, params);
  await waitForFirstMessage(asked, methods.RecordState, rpc).catch(() => {});
  try {
    return await work();
  } finally {
    asked.sendMessage({ order: 'over' });
    await asked.answerInTime().catch(() => {});
  }
}

type CheckParams = z.input<typeof methods.recordCheck.params>;

/** As with a local history, a check does not fail because nobody can tell what it changed. */
async function recordCheck<T>(rpc: RpcClient, params: CheckParams, work: () => Promise<T>): Promise<CheckedWork<T>> {
  const asked = rpc.begin(methods.recordCheck, params);
  await waitForFirstMessage(asked, methods.RecordState, rpc).catch(() => {});
  let said: Omit<CheckedWork<T>, 'result'> = { altered: [], unverified: 'silent' };
  const result = await work().finally(async () => {
    asked.sendMessage({ order: 'over' });
    said = await asked.answerInTime().catch(() => said);
  });
  return { result, ...said };
}

/** For runners of older releases: what a check leaves behind is no step of undo, and what it changed stays. */
async function recordUnverified<T>(rpc: RpcClient, { place: handle, call }: CheckParams, work: () => Promise<T>) {
  const result = await record(rpc, { place: handle, call: { ...call, byproducts: 'all' } }, work);
  return { result, altered: [], unverified: 'old' } as const;
}
