import { type AccountEvent, AppError } from '@croft/protocol';
import type { CallJournal } from '../../events/call-journal.ts';
import { rejectAfter } from '../../events/reject-after.ts';
import type { AuditEntry } from '../ports/call-tables.ts';
import type { Records } from '../ports/records.ts';
import type { Vault } from '../ports/vault.ts';
import type { PendingCallEnds } from './pending-call-ends.ts';
import { sealTitle } from './sealed-call-titles.ts';

interface AuditJournalOptions {
  readonly records: Records;
  readonly vault: Pick<Vault, 'seal'>;
  readonly accountId: string;
  readonly agentId: string;
  /** Id of the data directory: after a crash, the next start finds the unfinished calls by it. */
  readonly serverId: string;
  readonly pendingEnds: Pick<PendingCallEnds, 'add'>;
  readonly now: () => Date;
  /** Called with each call that has come in, for people who watch. */
  onStarted?(event: CallStarted): void;
  /** How long the end of a call waits for the records before it is recorded in the background. */
  readonly waitMs?: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const defaultWaitMs = 4000;
const notYet =
  'The audit trail does not have the end of this call yet, because the records do not answer. The end is kept and ' +
  'recorded as soon as they do. Do not repeat the call for that.';

/**
 * Writes the calls of one agent to the audit trail of its account. Every call that began there also ends there, if
 * necessary later.
 */
export function createAuditJournal(options: AuditJournalOptions): CallJournal {
  const { records, vault, accountId, agentId, serverId, pendingEnds, now, waitMs = defaultWaitMs } = options;
  /** The calls that have begun, each with its sealed title: sealing takes long, and the end has the same title. */
  const open = new Map<string, SealedTitle>();
  const toEntry = createToEntry(accountId, agentId, now);

  return {
    started(session, fields, call) {
      options.onStarted?.(toCallStarted(agentId, { session, fields, call, at: now() }));
    },
    async began(session, fields, call) {
      const sealed = sealTitle({ ...fields, call }, { vault, accountId });
      const entry = toEntry(session, 'call.began', sealed);
      const began = { callId: call, serverId, accountId, actor: entry.actor, tool: entry.target };
      // Added before the write: after a failed write nobody knows whether the row exists.
      open.set(call, { of: fields.title, sealed: sealed.title });
      await records.recordCall({ entries: [entry], began });
    },
    async ended(session, fields, violations, call) {
      const entries = toEndEntries(toEntry, session, sealEnd({ ...fields, call }, open.get(call)), violations);
      const hasBegun = open.delete(call);
      const recording = records.recordCall({ entries, ...(hasBegun && { ended: call }) });
      // Also covers a failure after the deadline below.
      recording.catch(() => pendingEnds.add({ call, hasBegun, entries }));
      await rejectAfter(waitMs, recording).catch((cause) => {
        throw new AppError('E_STORAGE_FAILED', notYet, { cause });
      });
    },
  };

  function sealEnd(fields: Fields, began: SealedTitle | undefined): Fields {
    if (began && began.of === fields.title) return { ...fields, title: began.sealed };
    return sealTitle(fields, { vault, accountId });
  }
}

interface SealedTitle {
  readonly of: unknown;
  readonly sealed: unknown;
}

type ToEntry = ReturnType<typeof createToEntry>;

type CallStarted = Extract<AccountEvent, { readonly type: 'call.started' }>;

interface StartedCall {
  readonly session: string;
  readonly fields: Fields;
  readonly call: string;
  readonly at: Date;
}

export function toCallStarted(agentId: string, { session, fields, call, at }: StartedCall): CallStarted {
  const { tool, workspace, title } = fields;
  return {
    ...{ type: 'call.started', at: at.toISOString(), call, agentId, session },
    tool: typeof tool === 'string' ? tool : '',
    workspace: typeof workspace === 'string' ? workspace : null,
    title: typeof title === 'string' ? title : '',
  };
}

/** Makes audit rows about calls. The actor is `who`, followed by the session. */
export function createToEntry(accountId: string, who: string, now: () => Date) {
  return (session: string, action: string, fields: Fields): AuditEntry => ({
    accountId,
    at: now().toISOString(),
    actor: `${who} ${session}`,
    action,
    target: typeof fields.tool === 'string' ? fields.tool : '',
    details: JSON.stringify(fields),
  });
}

/** Returns the rows for the end of a call: its violations first. */
export function toEndEntries(
  toEntry: ToEntry,
  session: string,
  call: Fields,
  violations: readonly Fields[],
): AuditEntry[] {
  return [
    ...violations.map((violation) => toEntry(session, 'violation', { tool: call.tool, call: call.call, ...violation })),
    toEntry(session, 'call.ended', call),
  ];
}
