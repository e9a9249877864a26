import { AppError } from '@croft/protocol';
import type { FileAccess } from '../../core/content/changes/file-access.ts';

/** One caller's access to the files of one workspace. */
export interface AuditedFileAccess {
  readonly workspace: FileAccess;
  /** The caller, for the history and the audit trail. */
  readonly label: string;
  readonly signal: AbortSignal;
  /** The most bytes that an uploaded file may have. */
  readonly maxUploadBytes: number;
  /** Writes a row to the audit trail, before the action. */
  audit(action: string, details: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Runs work that only reads, wrapped as a tool call is. */
export function wrapRead<T>(
  { workspace, label, signal }: AuditedFileAccess,
  title: string,
  work: () => Promise<T>,
): Promise<T> {
  return workspace.wrapCall?.({ tool: 'files', access: 'read', session: label, title, signal }, work) ?? work();
}

type FileAction = 'file.write' | 'file.rename' | 'file.remove';

interface Changing {
  readonly action: FileAction;
  /** The path of the change; two paths for a rename. */
  readonly details: Readonly<Record<string, string>>;
}

/** Runs work that changes files, wrapped as a tool call is, with rows in the audit trail. */
export function auditedChange<T>(visit: AuditedFileAccess, changing: Changing, work: () => Promise<T>): Promise<T> {
  return audited(visit, changing, () => wrapChange(visit, changing, work));
}

/** Writes a row to the audit trail before the work, and another one if the work fails. */
export async function audited<T>(
  visit: AuditedFileAccess,
  { action, details }: Changing,
  work: () => Promise<T>,
): Promise<T> {
  if (visit.workspace.access === 'read-only') throw new AppError('E_READ_ONLY', 'workspace is read-only');
  await visit.audit(action, details);
  try {
    return await work();
  } catch (thrown) {
    await visit.audit(`${action}.failed`, { ...details, code: AppError.from(thrown).code });
    throw thrown;
  }
}

export function wrapChange<T>(
  visit: AuditedFileAccess,
  { action, details }: Changing,
  work: () => Promise<T>,
): Promise<T> {
  const { workspace, label, signal } = visit;
  const title = Object.values(details).join(' → ');
  return workspace.wrapCall?.({ tool: action, access: 'write', session: label, title, signal }, work) ?? work();
}
