import { AppError } from '@croft/protocol';
import { note } from '../core/accounts/audit-log.ts';
import type { History } from '../core/history/history.ts';
import type { Platform } from './platform.ts';
import type { RouteCall } from './route.ts';

type Call = Pick<RouteCall<{ readonly workspaceId: string }>, 'actor' | 'params'>;

export interface HistoryChange {
  readonly action: 'snapshot.create' | 'snapshot.remove' | 'snapshot.restore' | 'undo';
  readonly details: Readonly<Record<string, unknown>>;
}

/** Never without a row in the audit trail, which says so if it failed. */
export async function changeHistory<T>(
  { records, now = Date.now }: Platform,
  { actor, params }: Call,
  { action, details }: HistoryChange,
  work: () => Promise<T>,
): Promise<T> {
  const about = { accountId: actor.accountId, actor: actor.label, target: params.workspaceId };
  const audit = (what: string, more: object) =>
    records.change((tables) => note(tables, { ...about, at: new Date(now()), action: what, details: { ...more } }));
  await audit(action, details);
  try {
    return await work();
  } catch (thrown) {
    await audit(`${action}.failed`, { ...details, code: AppError.from(thrown).code });
    throw thrown;
  }
}

/** Throws `E_NOT_FOUND`: nobody is told of as doing something to what is not there. */
export async function mustHaveSnapshot(history: History, name: string) {
  const found = (await history.snapshots()).find((snapshot) => snapshot.name === name);
  if (!found) throw new AppError('E_NOT_FOUND', 'Snapshot not found');
  return found;
}
