import {
  FileList,
  FileListQuery,
  FileRemoved,
  FileRemoveQuery,
  FileRenamed,
  FileWritten,
  MoveFile,
  PutFile,
  RemoveFile,
  RenameFile,
} from '@croft/protocol';
import { operatorId } from '../../core/accounts/access/operator-ids.ts';
import { parseRequestBody } from '../../core/accounts/configs/parse-request-body.ts';
import { listAtSnapshot } from '../files/files-at-snapshot.ts';
import { listDirectoryPage, listOne } from '../files/list-directory.ts';
import { makeFileLink } from '../files/make-file-link.ts';
import { openAuditedFileAccessFor } from '../files/open-audited-file-access.ts';
import { readDirectory, readPath } from '../files/read-path.ts';
import { removePath, renamePath } from '../files/rename-and-remove-paths.ts';
import { putFile, toWritten } from '../files/upload.ts';
import { readQuery } from '../http/read-query.ts';
import { pastOf } from '../platform/account-histories.ts';
import { defineRoute } from '../platform/route.ts';

const path = '/workspaces/{workspaceId}/files';
const failures = ['E_NOT_FOUND', 'E_INVALID_PATH', 'E_FILE_NOT_FOUND', 'E_SANDBOX_VIOLATION'] as const;
const changeFailures = [...failures, 'E_READ_ONLY', 'E_CONTROL_FILE', 'E_QUOTA', 'E_STORAGE_FULL'] as const;
const fiveMinutes = 300;

/** Lists and changes names, and writes small files. `file-contents.ts` has the bytes of large files. */
export const fileRoutes = [
  defineRoute({
    method: 'GET',
    path,
    summary: 'Lists the files of a workspace or of a folder of it; for a file, where to get it',
    scopes: ['read'],
    ofFlags: true,
    query: FileListQuery,
    answer: FileList,
    failures: [...failures],
    async handle(platform, call) {
      const { query, request } = call;
      const { snapshot } = query;
      const visit = await openAuditedFileAccessFor(platform, call);
      const folder = readDirectory(query.path);
      if (snapshot !== undefined)
        return { body: await listAtSnapshot(await pastOf(platform, call), { ...query, snapshot, path: folder }) };
      const page = await listDirectoryPage(visit, { ...query, path: folder });
      if (page) return { body: page };
      const link = { path: folder, method: 'GET', expiresInSeconds: fiveMinutes } as const;
      // Links are of keys, and the operator has none.
      const url = call.actor.accountId === operatorId ? {} : { url: makeFileLink(platform, call, link, request).url };
      return { body: { files: [await listOne(visit, folder)], ...url } };
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    summary: 'Puts a small file, as base64 in JSON; `PUT …/file` takes any',
    scopes: ['write'],
    ofFlags: true,
    body: PutFile,
    status: 201,
    answer: FileWritten,
    failures: [...changeFailures],
    async handle(platform, call) {
      const visit = await openAuditedFileAccessFor(platform, call);
      // The body may be larger than a record, and is stored in none.
      const { path: written, contentBase64 } = readQuery(PutFile, call.body);
      const bytes = Buffer.from(contentBase64, 'base64');
      const options = { headers: call.request.headers, maxBytes: visit.maxUploadBytes };
      return { body: toWritten(await putFile(visit, readPath(written), toPieces(bytes), options)) };
    },
  }),
  defineRoute({
    method: 'PATCH',
    path,
    summary: 'Renames a file or a folder to a name that is free',
    scopes: ['write'],
    ofFlags: true,
    body: RenameFile,
    answer: FileRenamed,
    failures: [...changeFailures, 'E_ALREADY_EXISTS'],
    async handle(platform, call) {
      const visit = await openAuditedFileAccessFor(platform, call);
      const { path: from, newPath } = parseRequestBody(RenameFile, call.body);
      return { body: await renamePath(visit, readPath(from), readPath(newPath)) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/rename`,
    summary: 'Renames a file or a folder, from `from` to `to`',
    scopes: ['write'],
    ofFlags: true,
    body: MoveFile,
    answer: FileRenamed,
    failures: [...changeFailures, 'E_ALREADY_EXISTS'],
    async handle(platform, call) {
      const visit = await openAuditedFileAccessFor(platform, call);
      const { from, to } = parseRequestBody(MoveFile, call.body);
      return { body: await renamePath(visit, readPath(from), readPath(to)) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path,
    summary: 'Deletes a file or, with recursive, a folder; what to delete is in the query or in the body',
    scopes: ['write'],
    ofFlags: true,
    query: FileRemoveQuery,
    body: RemoveFile,
    answer: FileRemoved,
    failures: [...changeFailures, 'E_DIRECTORY_NOT_EMPTY', 'E_PRECONDITION_FAILED'],
    async handle(platform, call) {
      const visit = await openAuditedFileAccessFor(platform, call);
      const body = parseRequestBody(RemoveFile, call.body);
      const removal = {
        path: readPath(call.query.path ?? body.path),
        recursive: call.query.recursive || (body.recursive ?? false),
      };
      return { body: await removePath(visit, removal, call.request.headers) };
    },
  }),
];

async function* toPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
