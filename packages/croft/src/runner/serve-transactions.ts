import { AppError } from '@croft/protocol';
import { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { SandboxLimits } from '../core/commands/sandbox.ts';
import type { Transactions } from '../core/history/transactions.ts';
import { parse } from '../core/parse.ts';
import type { OfferedWorkspace, WantedSandbox } from '../core/runners/offer.ts';
import * as methods from '../link/methods/history.ts';
import {
  answerJson,
  type Handlers,
  mustBeWritable,
  type Owned,
  type Places,
  serving,
  untilAborted,
} from './serve-means.ts';
import { type HeldSandbox, holdSandbox } from './serve-sandboxes.ts';

const { answerChannel } = methods;
/** Of sandboxes that differ in what they may, for one place. */
const maxKinds = 100;

interface Asked {
  readonly place: string;
  readonly limits: SandboxLimits;
  readonly network: unknown;
}

export function serveTransactions(places: Places, sandboxes: Owned<HeldSandbox>): Handlers {
  const known = new WeakMap<OfferedWorkspace, Map<string, Transactions>>();

  /** One for all who want the same of a place: they wait for each other. */
  function of({ place, limits, network }: Asked): Transactions {
    const workspace = mustBeWritable(places.get(place));
    const those = known.get(workspace) ?? new Map<string, Transactions>();
    known.set(workspace, those);
    const key = JSON.stringify([limits, network]);
    const opened = those.get(key) ?? open(workspace, { limits, network: parse(NetworkPolicy, network) });
    if (those.size >= maxKinds) those.clear();
    those.set(key, opened);
    return opened;
  }

  return {
    ...serving(methods.beginTransaction, async (asked, call) => {
      const { session, title } = asked;
      const work: Parameters<Transactions['begin']>[2] = async (sandbox) => {
        const { work: done, closing } = holdSandbox(sandboxes, sandbox, call);
        closing.then(() => sandbox.close()).catch(() => {});
        await Promise.race([done, untilAborted(call.signal)]);
      };
      const { transaction } = await of(asked).begin(session, title, work, call.signal);
      return answerJson(call, answerChannel, transaction);
    }),
    ...serving(methods.commitTransaction, async (asked, call) =>
      answerJson(call, answerChannel, await of(asked).commit(asked.session, asked.id, call.signal)),
    ),
    ...serving(methods.discardTransaction, async (asked) => {
      await of(asked).discard(asked.session, asked.id);
      return null;
    }),
    ...serving(methods.listTransactions, async (asked, call) =>
      answerJson(call, answerChannel, await of(asked).list(asked.session)),
    ),
  };
}

function open({ transactions }: OfferedWorkspace, wanted: WantedSandbox): Transactions {
  if (transactions) return transactions(wanted);
  throw new AppError('E_NOT_FOUND', 'this workspace has no transactions');
}
