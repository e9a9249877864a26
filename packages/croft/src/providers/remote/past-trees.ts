import type { PastTrees } from '../../core/history/ports/history.ts';
import { maxShownBytes } from '../../core/history/snapshots/past-trees.ts';
import { maxListBytes } from '../../link/methods/files.ts';
import { answerChannel } from '../../link/methods/history.ts';
import * as methods from '../../link/methods/past-trees.ts';
import type { RpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';

/** The earlier trees of a workspace on a runner, which stores them. */
export function createRemotePastTrees(rpc: RpcClient, handle: string): PastTrees {
  return {
    async diffOf(checkpoint, signal) {
      const { diffCheckpoint, CheckpointChanges } = methods;
      const asked = rpc.begin(diffCheckpoint, { place: handle, checkpoint }, { signal, idleMs: null });
      const answer = await asked.withJson(answerChannel, maxListBytes, CheckpointChanges);
      if (answer.checkpoint.id === checkpoint) return answer;
      throw invalidAnswer(diffCheckpoint.name, 'another checkpoint');
    },
    async list(snapshot, directory) {
      const asked = rpc.begin(methods.listPastDirectory, { place: handle, snapshot, path: directory });
      const entries = await asked.withJson(answerChannel, maxListBytes, methods.PastEntries);
      return entries.map(({ name, entry }) => ({ path: directory === '' ? name : `${directory}/${name}`, entry }));
    },
    async read(snapshot, path) {
      const asked = rpc.begin(methods.readPastFile, { place: handle, snapshot, path });
      const [, bytes] = await asked.withBytes(answerChannel, maxShownBytes);
      return bytes;
    },
  };
}
