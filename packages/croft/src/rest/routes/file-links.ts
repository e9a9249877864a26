import { AppError, CreateDownloadLink, CreateFileLink, DownloadLink, FileLink } from '@croft/protocol';
import { parseRequestBody } from '../../core/accounts/configs/parse-request-body.ts';
import type { Actor } from '../../core/accounts/ports/registry.ts';
import { makeFileLink } from '../files/make-file-link.ts';
import { openAuditedFileAccessFor } from '../files/open-audited-file-access.ts';
import { readPath } from '../files/read-path.ts';
import { defineRoute } from '../platform/route.ts';

/** Makes links that need no key. A link ends with its expiry, its key, its workspace or its account. */
export const fileLinkRoutes = [
  defineRoute({
    method: 'POST',
    path: '/workspaces/{workspaceId}/links',
    summary: 'Makes a link that gets or puts one file without a key, for at most a week',
    scopes: ['read', 'write'],
    body: CreateFileLink,
    status: 201,
    answer: FileLink,
    failures: ['E_NOT_FOUND', 'E_INVALID_PATH'],
    async handle(platform, call) {
      const visit = await openAuditedFileAccessFor(platform, call);
      const wanted = parseRequestBody(CreateFileLink, call.body);
      const { method } = wanted;
      mustMay(call.actor, method === 'PUT' ? 'write' : 'read');
      const path = readPath(wanted.path);
      await visit.audit('file.link', { path, method });
      return { body: { ...makeFileLink(platform, call, { ...wanted, path }, call.request), method, path } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/workspaces/{workspaceId}/download-links',
    summary: 'Makes a link that gets one file without a key, for at most 30 days',
    scopes: ['read'],
    body: CreateDownloadLink,
    status: 201,
    answer: DownloadLink,
    failures: ['E_NOT_FOUND', 'E_INVALID_PATH'],
    async handle(platform, call) {
      const visit = await openAuditedFileAccessFor(platform, call);
      const { path: written, expiresInSeconds } = parseRequestBody(CreateDownloadLink, call.body);
      const path = readPath(written);
      await visit.audit('file.link', { path, method: 'GET' });
      const { token } = makeFileLink(platform, call, { path, method: 'GET', expiresInSeconds }, call.request);
      return { body: { token, downloadPath: `/v1/downloads/${token}`, path, expiresInSeconds } };
    },
  }),
];

/** A caller can only give access that its own key has. */
function mustMay({ scopes }: Actor, needed: 'read' | 'write'): void {
  if (scopes.includes('*') || scopes.includes(needed)) return;
  throw new AppError('E_FORBIDDEN', `this needs a key of scope ${needed}; this key has ${scopes.join(', ')}`, {
    details: { needed: [needed], scopes },
  });
}
