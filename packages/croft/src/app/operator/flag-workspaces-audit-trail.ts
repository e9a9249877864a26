import { createAccountEvents } from '../../core/account-events/account-events.ts';
import { flagsAgentId, operatorId } from '../../core/accounts/access/operator-ids.ts';
import { toCallStarted } from '../../core/accounts/audit/audit-journal.ts';
import { createMergedAuditLog } from '../../core/accounts/audit/audit-log.ts';
import { lastPositions, writePositions } from '../../core/accounts/audit/audit-positions.ts';
import { type AuditSource, createRecordsSource } from '../../core/accounts/audit/audit-source.ts';
import type { AuditVerdict } from '../../core/accounts/audit/verify-audit.ts';
import { once } from '../../lib/concurrency/once.ts';

import type { LocalApprovals } from '../records/local-approvals.ts';
import type { LocalAuditTrail } from '../records/local-audit-trail.ts';
import type { LocalCallJournal } from '../records/local-call-journal.ts';

/**
 * The audit trail of the workspaces that flags name, as one: calls are in files, which other programs of this data
 * directory append to as well, and approvals are in the records.
 */
export function createFlagWorkspacesAuditTrail(local: LocalApprovals, journal: LocalCallJournal | undefined) {
  const now = () => new Date();
  const records = createRecordsSource(local, operatorId);
  const sources = journal ? [createTrailSource(journal.trail), records] : [records];
  const newest = async () => writePositions(await lastPositions(sources));
  const events = createAccountEvents({ sourcesOf: () => sources, newest, now });
  local.watchRows(events.wake);
  journal?.watch({
    onRows: events.wake,
    onStarted: (session, fields, call) =>
      events.publish(operatorId, toCallStarted(flagsAgentId, { session, fields, call, at: now() })),
  });
  const verify = async () => mergeVerdicts(await (await journal?.trail())?.verify(), await local.verifyAudit());
  return { events, audit: createMergedAuditLog(() => sources), verify };
}

/** Opens the files at the first read. */
function createTrailSource(open: () => Promise<LocalAuditTrail>): AuditSource {
  const opened = once(async () => (await open()).reader);
  return {
    last: async () => (await opened()).last(),
    first: async () => (await opened()).first?.() ?? 0,
    after: async (...range) => (await opened()).after(...range),
    before: async (...range) => (await opened()).before(...range),
  };
}

/** The row that is named first is of the calls. */
function mergeVerdicts(calls: AuditVerdict | undefined, records: AuditVerdict): AuditVerdict {
  if (!calls) return records;
  const both = <Part extends 'problems' | 'shows' | 'cannotShow'>(part: Part) => [
    ...calls[part].map((words) => `calls: ${words}`),
    ...records[part].map((words) => `records: ${words}`),
  ];
  return {
    isWhole: calls.isWhole && records.isWhole,
    rows: calls.rows + records.rows,
    older: calls.older + records.older,
    broken: calls.broken ?? records.broken,
    ...{ problems: both('problems'), shows: both('shows'), cannotShow: both('cannotShow') },
  };
}
