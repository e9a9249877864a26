import { AppError } from '@croft/protocol';
import { parseBySchema } from '../core/arguments/parse-by-schema.ts';
import { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { SandboxLimits } from '../core/commands/sandbox.ts';
import type { Transactions } from '../core/history/ports/transactions.ts';
import type { RunnerWorkspace, SandboxRequest } from '../core/runner-workspaces/runner-workspace.ts';
import * as methods from '../link/methods/history.ts';
import {
  answerJson,
  type HandleTable,
  type LinkHandlers,
  mustBeWritable,
  type ServedWorkspaces,
  serveMethod,
  untilAborted,
} from './serve-helpers.ts';
import { registerSandbox, type ServedSandbox } from './serve-sandboxes.ts';

const { answerChannel } = methods;
/** The most different sandbox settings that are remembered for one workspace. */
const maxKinds = 100;

interface TransactionParams {
  readonly place: string;
  readonly limits: SandboxLimits;
  readonly network: unknown;
  readonly allowControl?: readonly string[] | undefined;
}

export function serveTransactions(workspaces: ServedWorkspaces, sandboxes: HandleTable<ServedSandbox>): LinkHandlers {
  const known = new WeakMap<RunnerWorkspace, Map<string, Transactions>>();

  /** Callers with the same settings share one `Transactions`, so that they wait for each other. */
  function of({ place: handle, limits, network, allowControl }: TransactionParams): Transactions {
    const workspace = mustBeWritable(workspaces.get(handle));
    const those = known.get(workspace) ?? new Map<string, Transactions>();
    known.set(workspace, those);
    const key = JSON.stringify([limits, network, allowControl]);
    const wanted = { limits, network: parseBySchema(NetworkPolicy, network), allowControl };
    const opened = those.get(key) ?? open(workspace, wanted);
    if (those.size >= maxKinds) those.clear();
    those.set(key, opened);
    return opened;
  }

  return {
    ...serveMethod(methods.beginTransaction, async (asked, call) => {
      const { session, title, asBefore } = asked;
      const work: Parameters<Transactions['begin']>[2] = async (sandbox) => {
        const { work: done, closing } = registerSandbox(sandboxes, sandbox, call);
        closing.then(() => sandbox.close()).catch(() => {});
        await Promise.race([done, untilAborted(call.signal)]);
      };
      const { transaction } = await of(asked).begin(session, title, work, call.signal, asBefore);
      return answerJson(call, answerChannel, transaction);
    }),
    ...serveMethod(methods.commitTransaction, async (asked, call) =>
      answerJson(call, answerChannel, await of(asked).commit(asked.session, asked.id, call.signal)),
    ),
    ...serveMethod(methods.discardTransaction, async (asked) => {
      await of(asked).discard(asked.session, asked.id);
      return null;
    }),
    ...serveMethod(methods.listTransactions, async (asked, call) =>
      answerJson(call, answerChannel, await of(asked).list(asked.session)),
    ),
  };
}

function open({ transactions }: RunnerWorkspace, wanted: SandboxRequest): Transactions {
  if (transactions) return transactions(wanted);
  throw new AppError('E_NOT_FOUND', 'this workspace has no transactions');
}
