import {
  FileQuery,
  FileReadQuery,
  FileWritten,
  FileZipQuery,
  WorkspaceSearch,
  WorkspaceSearchQuery,
} from '@croft/protocol';
import { searchContentsForRest } from '../../core/content/search/search-contents-for-rest.ts';
import { wrapRead } from '../files/audited-file-access.ts';
import { download } from '../files/download.ts';
import { toFileEventFeed } from '../files/file-event-feed.ts';
import { readAtSnapshot } from '../files/files-at-snapshot.ts';
import { openAuditedFileAccessFor } from '../files/open-audited-file-access.ts';
import { readDirectory, readPath } from '../files/read-path.ts';
import { upload } from '../files/upload.ts';
import { zipFolder } from '../files/zip-folder.ts';
import { toEventStream } from '../http/event-stream.ts';
import { pastOf } from '../platform/account-histories.ts';
import { defineRoute } from '../platform/route.ts';

/** As long as the tool `grep` may take. */
const searchMs = 30_000;
const failures = ['E_NOT_FOUND', 'E_INVALID_PATH', 'E_FILE_NOT_FOUND', 'E_SANDBOX_VIOLATION'] as const;
const changeFailures = [...failures, 'E_READ_ONLY', 'E_CONTROL_FILE', 'E_QUOTA', 'E_STORAGE_FULL'] as const;

/** The bytes of files, and the feed of changes. */
export const fileContentRoutes = [
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/file',
    summary: 'Gets a file, or a part of it',
    scopes: ['read'],
    ofFlags: true,
    raw: true,
    query: FileReadQuery,
    answerType: 'application/octet-stream',
    headers: { Range: 'One range of bytes', 'If-Range': 'An ETag', 'If-None-Match': 'ETags, or *' },
    failures: [...failures, 'E_NOT_A_FILE', 'E_RANGE'],
    handle: async (platform, call) => {
      const { path, snapshot } = call.query;
      const visit = await openAuditedFileAccessFor(platform, call);
      return snapshot === undefined
        ? download(visit, readPath(path), call.request)
        : readAtSnapshot(await pastOf(platform, call), snapshot, readPath(path));
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/workspaces/{workspaceId}/file',
    summary: 'Puts a file, with the folders it needs: all of it or nothing',
    scopes: ['write'],
    ofFlags: true,
    raw: true,
    streams: true,
    query: FileQuery,
    bodyType: 'application/octet-stream',
    answer: FileWritten,
    alsoAnswers: { 201: FileWritten },
    headers: { 'If-Match': 'ETags as last seen, or *', 'If-None-Match': '* for a file that is new' },
    failures: [...changeFailures, 'E_NOT_A_FILE', 'E_TOO_LARGE', 'E_PRECONDITION_FAILED'],
    handle: async (platform, call) => {
      const visit = await openAuditedFileAccessFor(platform, call);
      return upload(visit, readPath(call.query.path), call.request);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/download',
    summary: 'A zip of the workspace or of a folder of it, without links',
    scopes: ['read'],
    ofFlags: true,
    raw: true,
    query: FileZipQuery,
    answerType: 'application/zip',
    failures: [...failures, 'E_NOT_A_DIRECTORY'],
    handle: async (platform, call) => {
      const visit = await openAuditedFileAccessFor(platform, call);
      const { path, include = '' } = call.query;
      const now = new Date((platform.now ?? Date.now)());
      return zipFolder(visit, { path: readDirectory(path), include: include.split(','), now }, call.request);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/search',
    summary: 'Searches the contents of files, without those that git ignores',
    scopes: ['read'],
    ofFlags: true,
    query: WorkspaceSearchQuery,
    answer: WorkspaceSearch,
    failures: [...failures, 'E_BAD_PATTERN'],
    async handle(platform, call) {
      const { pattern, literal: isLiteral, ignoreCase: ignoresCase, path, glob, limit } = call.query;
      const visit = await openAuditedFileAccessFor(platform, call);
      const { search, files } = visit.workspace;
      const signal = AbortSignal.any([call.request.signal, AbortSignal.timeout(searchMs)]);
      const wanted = { pattern, isLiteral, ignoresCase, glob, limit, signal, path: readDirectory(path) };
      return { body: await wrapRead(visit, pattern, () => searchContentsForRest({ ...search, files }, wanted)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/workspaces/{workspaceId}/events',
    summary: 'What changes, as server-sent events, each a FileEvent in JSON',
    scopes: ['read'],
    ofFlags: true,
    raw: true,
    answerType: 'text/event-stream',
    headers: { 'Last-Event-ID': 'The id of the event that was seen last' },
    failures: ['E_NOT_FOUND', 'E_TOO_MANY'],
    async handle(platform, call) {
      const { actor, params, request } = call;
      const { accountId } = actor;
      const visit = await openAuditedFileAccessFor(platform, call);
      const joined = await platform.files.feeds.join(accountId, params.workspaceId, visit.workspace);
      const isThere = () =>
        platform.files.of(accountId, params.workspaceId).then(
          () => true,
          () => false,
        );
      return toEventStream({
        feed: toFileEventFeed(joined.feed, request.headers.get('last-event-id') ?? undefined, () => new Date()),
        isStillAllowed: async () => (await call.isStillAllowed()) && (await isThere()),
        onEnd: () => joined[Symbol.dispose](),
        signal: request.signal,
      });
    },
  }),
];
