import { AppError } from '@croft/protocol';
import { type AuditedFileAccess, auditedChange } from './audited-file-access.ts';
import { isAmong, readTags } from './etag-conditions.ts';

export async function renamePath(visit: AuditedFileAccess, from: string, to: string) {
  if (`${to}/`.startsWith(`${from}/`))
    throw new AppError('E_INVALID_INPUT', 'Invalid destination path', { details: { from, to } });
  const renamed = await auditedChange(visit, { action: 'file.rename', details: { from, to } }, () =>
    visit.workspace.files.rename(from, to),
  );
  return { renamed: 1, from: renamed.from, to: renamed.to };
}

export async function removePath(
  visit: AuditedFileAccess,
  { path, recursive }: { readonly path: string; readonly recursive: boolean },
  headers: Headers,
) {
  const { files } = visit.workspace;
  const tags = readTags(headers, 'if-match');
  const { removed } = await auditedChange(visit, { action: 'file.remove', details: { path } }, async () => {
    if (tags !== undefined) {
      const current = await files.version(path);
      if (!current || !isAmong(tags, current.version)) throw ifMatchFailed(path);
    }
    return files.remove(path, { recursive, signal: visit.signal });
  });
  return { deleted: removed };
}

function ifMatchFailed(path: string): AppError {
  return new AppError('E_PRECONDITION_FAILED', `the ETag of ${path} is another one than in If-Match`, {
    details: { path },
  });
}
