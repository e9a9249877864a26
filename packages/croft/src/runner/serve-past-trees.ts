import { AppError } from '@croft/protocol';
import type { PastTrees } from '../core/history/ports/history.ts';
import { maxShownBytes } from '../core/history/snapshots/past-trees.ts';
import { createMemoryBudget } from '../lib/concurrency/memory-budget.ts';
import { sendPieces, toPieces } from '../link/calls/bounded-streams.ts';
import { answerChannel } from '../link/methods/history.ts';
import * as methods from '../link/methods/past-trees.ts';
import { answerJson, type LinkHandlers, type ServedWorkspaces, serveMethod } from './serve-helpers.ts';

/** Serves what calls changed, and files as they were in a snapshot. */
export function servePastTrees(workspaces: ServedWorkspaces): LinkHandlers {
  const budget = createMemoryBudget();
  const of = (handle: string) => mustHave(workspaces.get(handle).history?.past);
  return {
    ...serveMethod(methods.diffCheckpoint, async ({ place: handle, checkpoint }, call) =>
      answerJson(call, answerChannel, await of(handle).diffOf(checkpoint, call.signal)),
    ),
    ...serveMethod(methods.listPastDirectory, async ({ place: handle, snapshot, path }, call) => {
      const listed = await of(handle).list(snapshot, path);
      const entries = listed.map(({ path: own, entry }) => ({ name: own.slice(own.lastIndexOf('/') + 1), entry }));
      return answerJson(call, answerChannel, entries);
    }),
    ...serveMethod(methods.readPastFile, async ({ place: handle, snapshot, path }, call) => {
      using _ = await budget.reserve(maxShownBytes);
      const bytes = await of(handle).read(snapshot, path);
      await sendPieces(call.writable(answerChannel), toPieces(bytes), call);
      return null;
    }),
  };
}

function mustHave(past: PastTrees | undefined): PastTrees {
  if (past) return past;
  throw new AppError('E_NOT_FOUND', 'this runner keeps no history of this workspace');
}
