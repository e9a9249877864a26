import { AppError } from '@croft/protocol';
import { appendAudit } from '../../core/accounts/audit/audit-log.ts';
import type { History } from '../../core/history/ports/history.ts';
import type { RestPlatform } from './rest-platform.ts';
import type { RouteCall } from './route.ts';

type Call = Pick<RouteCall<{ readonly workspaceId: string }>, 'actor' | 'params'>;

interface HistoryChange {
  readonly action: 'snapshot.create' | 'snapshot.remove' | 'snapshot.restore' | 'undo';
  readonly details: Readonly<Record<string, unknown>>;
}

/** Changes a history. Writes a row to the audit trail before, and another one if the change fails. */
export async function auditedHistoryChange<T>(
  { records, now = Date.now }: RestPlatform,
  { actor, params }: Call,
  { action, details }: HistoryChange,
  work: () => Promise<T>,
): Promise<T> {
  const about = { accountId: actor.accountId, actor: actor.label, target: params.workspaceId };
  const audit = (what: string, more: object) =>
    records.change((tables) =>
      appendAudit(tables, { ...about, at: new Date(now()), action: what, details: { ...more } }),
    );
  await audit(action, details);
  try {
    return await work();
  } catch (thrown) {
    await audit(`${action}.failed`, { ...details, code: AppError.from(thrown).code });
    throw thrown;
  }
}

/** Throws `E_NOT_FOUND` before anything is written to the audit trail. */
export async function mustHaveSnapshot(history: History, name: string) {
  const found = (await history.snapshots()).find((snapshot) => snapshot.name === name);
  if (!found) throw new AppError('E_NOT_FOUND', 'Snapshot not found');
  return found;
}
