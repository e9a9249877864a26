import type { Journal } from '../journal.ts';
import type { AuditEntry, Records } from './records.ts';

export interface AuditJournalOptions {
  readonly records: Records;
  readonly accountId: string;
  readonly agentId: string;
  readonly now: () => Date;
}

type Fields = Readonly<Record<string, unknown>>;

/** Calls of one agent in the audit trail of its account. */
export function createAuditJournal({ records, accountId, agentId, now }: AuditJournalOptions): Journal {
  const entry = (session: string, action: string, fields: Fields): AuditEntry => ({
    accountId,
    at: now().toISOString(),
    actor: `${agentId} ${session}`,
    action,
    target: typeof fields.tool === 'string' ? fields.tool : '',
    details: JSON.stringify(fields),
  });
  return {
    began: (session, call) => append([entry(session, 'call.began', call)]),
    ended: (session, call, violations) =>
      append([
        ...violations.map((violation) => entry(session, 'violation', { tool: call.tool, ...violation })),
        entry(session, 'call.ended', call),
      ]),
  };

  async function append(entries: readonly AuditEntry[]): Promise<void> {
    await records.change(({ audit }) => audit.append(entries));
  }
}
