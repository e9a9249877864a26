import { AppError } from '@croft/protocol';
import type { Platform } from '../platform.ts';
import type { RouteCall } from '../route.ts';
import { isAmong, readTags } from './conditions.ts';
import { enter } from './enter.ts';
import { change, type Visit } from './visit.ts';

/** Whoever a route was called by, in the workspace that it names. */
export function enterWith(platform: Platform, call: RouteCall<{ readonly workspaceId: string }>): Promise<Visit> {
  const { actor, params, request } = call;
  const { accountId, label } = actor;
  return enter(platform, { accountId, workspaceId: params.workspaceId, label, signal: request.signal });
}

export async function renamePath(visit: Visit, from: string, to: string) {
  if (`${to}/`.startsWith(`${from}/`))
    throw new AppError('E_INVALID_INPUT', 'Invalid destination path', { details: { from, to } });
  const renamed = await change(visit, { action: 'file.rename', details: { from, to } }, () =>
    visit.door.files.rename(from, to),
  );
  return { renamed: 1, from: renamed.from, to: renamed.to };
}

export async function removePath(
  visit: Visit,
  { path, recursive }: { readonly path: string; readonly recursive: boolean },
  headers: Headers,
) {
  const { files } = visit.door;
  const tags = readTags(headers, 'if-match');
  const { removed } = await change(visit, { action: 'file.remove', details: { path } }, async () => {
    if (tags !== undefined) {
      const current = await files.version(path);
      if (!current || !isAmong(tags, current.version)) throw notAsSaid(path);
    }
    return files.remove(path, { recursive, signal: visit.signal });
  });
  return { deleted: removed };
}

function notAsSaid(path: string): AppError {
  return new AppError('E_PRECONDITION_FAILED', `${path} is not what If-Match says`, { details: { path } });
}
