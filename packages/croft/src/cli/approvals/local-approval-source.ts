import { setTimeout as pause } from 'node:timers/promises';
import type { Approval } from '@croft/protocol';
import type { ApprovalEvent } from '@croft/sdk';
import { operator } from '../../app/records/local-approval-gate.ts';
import { openLocalApprovals } from '../../app/records/local-approvals.ts';
import type { Config } from '../../config.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { findServerKeys } from '../find-server-keys.ts';
import type { ApprovalSource } from './approval-source.ts';

/** Another process writes the records, so they are polled at this interval. */
const lookMs = 500;

/** The approvals of `croft mcp`, which has no server to ask: they are in its data directory. */
export async function openLocalApprovalSource(data: string, config: Config): Promise<ApprovalSource> {
  const keys = findServerKeys(data, config.keys);
  const { approvalInbox, close } = await openLocalApprovals({ data, keys, emit: () => {} }).catch((thrown) => {
    throw new UsageError(`records: ${errorMessage(thrown)}`);
  });
  const list = async (state?: 'pending') =>
    (await approvalInbox.list(operator, state === undefined ? {} : { state }, { limit: 200 })).rows as Approval[];
  const get = async (id: string) => (await approvalInbox.get(operator, id)) as Approval;
  return {
    list,
    get,
    decide: async (id, { scope = 'once', ...decision }) =>
      (await approvalInbox.decide(operator, id, { ...decision, scope })) as Approval,
    watch: (signal) => watch({ list, get, signal }),
    [Symbol.asyncDispose]: close,
  };
}

interface Watching extends Pick<ApprovalSource, 'list' | 'get'> {
  readonly signal: AbortSignal;
}

async function* watch({ list, get, signal }: Watching): AsyncGenerator<ApprovalEvent> {
  let waiting = new Map<string, Approval>();
  while (!signal.aborted) {
    const found = new Map((await list('pending')).map((approval) => [approval.approvalId, approval]));
    for (const [id, approval] of found) if (!waiting.has(id)) yield { type: 'pending', approval };
    for (const id of waiting.keys()) if (!found.has(id)) yield toEnd(await get(id));
    waiting = found;
    await pause(lookMs, undefined, { signal }).catch(() => {});
  }
}

function toEnd(approval: Approval): ApprovalEvent {
  const { state } = approval;
  return { type: state === 'approved' || state === 'used' ? state : 'denied', approval };
}
