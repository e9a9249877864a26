import type { AccountEvent, Approval } from '@croft/protocol';
import type { Client } from '../client/create-client.ts';
import { CroftError } from '../errors/croft-error.ts';

export interface WatchOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Something that happened to an approval. */
export interface ApprovalEvent {
  /** `pending`: a person has to decide. The others are over. */
  readonly type: 'pending' | 'approved' | 'denied' | 'used';
  readonly approval: Approval;
}

const actions: Readonly<Record<string, ApprovalEvent['type']>> = {
  'approval.requested': 'pending',
  'approval.approved': 'approved',
  'approval.denied': 'denied',
  'approval.used': 'used',
};

/**
 * Every approval that waits now, and then whatever happens to approvals, until the signal aborts. A broken connection is
 * made again without a gap.
 */
export async function* watchApprovals(client: Client, { signal }: WatchOptions = {}): AsyncGenerator<ApprovalEvent> {
  const { position } = await client.audit.list({ limit: 1 });
  const isNews = createNewsFilter();
  for await (const event of listPending(client)) if (isNews(event)) yield event;
  for await (const event of client.events({ after: position, ...(signal && { signal }) }))
    for await (const found of toApprovalEvents(client, event)) if (isNews(found)) yield found;
}

/** An approval may be both in the list and in an event, and may be decided before its event is read. */
function createNewsFilter(): (event: ApprovalEvent) => boolean {
  const waiting = new Set<string>();
  return ({ type, approval: { approvalId, state } }) => {
    if (type !== 'pending') {
      waiting.delete(approvalId);
      return true;
    }
    if (state !== 'pending' || waiting.has(approvalId)) return false;
    waiting.add(approvalId);
    return true;
  };
}

async function* toApprovalEvents(client: Client, event: AccountEvent): AsyncGenerator<ApprovalEvent> {
  // Too much has happened to name it one by one.
  if (event.type === 'reset') yield* listPending(client);
  const type = event.type === 'audit' ? actions[event.record.action] : undefined;
  if (event.type !== 'audit' || type === undefined) return;
  const approval = await find(client, event.record.target);
  if (approval) yield { type, approval };
}

async function* listPending({ approvals }: Client): AsyncGenerator<ApprovalEvent> {
  const pending = await Array.fromAsync(approvals.all({ state: 'pending' }));
  // The oldest first, as they were asked for.
  for (const approval of pending.reverse()) yield { type: 'pending', approval };
}

/** `undefined` for one that is gone, or that this key may not see. */
function find({ approvals }: Client, approvalId: string): Promise<Approval | undefined> {
  return approvals.get(approvalId).catch((thrown) => {
    if (CroftError.is(thrown) && thrown.code === 'E_NOT_FOUND') return undefined;
    throw thrown;
  });
}
