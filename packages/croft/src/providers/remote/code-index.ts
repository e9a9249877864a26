import type { CodeIndex } from '../../core/code/ports/code-index.ts';
import { codeChannel, maxAnswerBytes } from '../../link/methods/code.ts';
import { mapIndex, searchIndex } from '../../link/methods/code-index.ts';
import type { RpcClient } from './rpc/rpc-client.ts';

/** Asks the index of the runner, which reads the files where they are. */
export function createRemoteCodeIndex(rpc: RpcClient, place: string): CodeIndex {
  const deadlineMs = rpc.patienceMs;
  return {
    async search(question, signal) {
      const call = rpc.begin(searchIndex, { place, question }, { signal, deadlineMs });
      return (await call.withJson(codeChannel, maxAnswerBytes, searchIndex.sent)) ?? undefined;
    },
    async map(question, signal) {
      const call = rpc.begin(mapIndex, { place, question }, { signal, deadlineMs });
      return (await call.withJson(codeChannel, maxAnswerBytes, mapIndex.sent)) ?? undefined;
    },
  };
}
