import { AppError } from '@croft/protocol';
import type { FileDoor } from '../../core/content/file-door.ts';

/** Somebody at the door of a workspace. */
export interface Visit {
  readonly door: FileDoor;
  /** Who it is, for the history and the audit trail. */
  readonly label: string;
  readonly signal: AbortSignal;
  /** The most that one file may be sent. */
  readonly maxUploadBytes: number;
  /** A row that is there before what it tells of. */
  audit(action: string, details: Readonly<Record<string, unknown>>): Promise<void>;
}

/** What only reads. */
export function look<T>({ door, label, signal }: Visit, title: string, work: () => Promise<T>): Promise<T> {
  return door.around?.({ tool: 'files', access: 'read', session: label, title, signal }, work) ?? work();
}

export type FileAction = 'file.write' | 'file.rename' | 'file.remove';

interface Changing {
  readonly action: FileAction;
  /** What it is about: a path, or two. */
  readonly details: Readonly<Record<string, string>>;
}

/** What changes something. */
export function change<T>(visit: Visit, changing: Changing, work: () => Promise<T>): Promise<T> {
  return audited(visit, changing, () => aroundChange(visit, changing, work));
}

/** Never without a row in the audit trail, which says so if it failed. */
export async function audited<T>(visit: Visit, { action, details }: Changing, work: () => Promise<T>): Promise<T> {
  if (visit.door.access === 'read-only') throw new AppError('E_READ_ONLY', 'workspace is read-only');
  await visit.audit(action, details);
  try {
    return await work();
  } catch (thrown) {
    await visit.audit(`${action}.failed`, { ...details, code: AppError.from(thrown).code });
    throw thrown;
  }
}

export function aroundChange<T>(visit: Visit, { action, details }: Changing, work: () => Promise<T>): Promise<T> {
  const { door, label, signal } = visit;
  const title = Object.values(details).join(' → ');
  return door.around?.({ tool: action, access: 'write', session: label, title, signal }, work) ?? work();
}
