import { AppError, FileRemoveQuery, type FileTree, FileZipQuery } from '@croft/protocol';
import { type Context, Hono } from 'hono';
import { listFiles } from '../../core/content/list-files.ts';
import { needsApproval } from '../../core/workspace/permission.ts';
import { type AuditedFileAccess, wrapRead } from '../files/audited-file-access.ts';
import { download } from '../files/download.ts';
import { toFileEventFeed } from '../files/file-event-feed.ts';
import { readDirectory, readPath } from '../files/read-path.ts';
import { removePath } from '../files/rename-and-remove-paths.ts';
import { upload } from '../files/upload.ts';
import { zipFolder } from '../files/zip-folder.ts';
import { toEventStream } from '../http/event-stream.ts';
import { readQuery } from '../http/read-query.ts';
import type { FlagWorkspace, FlagWorkspaces } from './flag-workspaces.ts';

const maxEntries = 50_000;
const skip: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Serves the files of the workspaces that flags name, at `/api`, to clients with the server's token. */
export function createFlagApi(workspaces: FlagWorkspaces) {
  return new Hono()
    .get('/tree', async (c) => c.json(await readTree(enter(c), pick(c))))
    .get('/file', (c) => download(enter(c), readPath(c.req.query('path')), c.req.raw))
    .put('/file', async (c) => upload(enterToChange(c), readPath(c.req.query('path')), c.req.raw))
    .delete('/file', async (c) => {
      const { path, recursive } = readQuery(FileRemoveQuery, c.req.query());
      return c.json(await removePath(enterToChange(c), { path: readPath(path), recursive }, c.req.raw.headers));
    })
    .get('/download', (c) => {
      const { path, include = '' } = readQuery(FileZipQuery, c.req.query());
      const options = { path: readDirectory(path), include: include.split(','), now: new Date() };
      return zipFolder(enter(c), options, c.req.raw);
    })
    .get('/events', async (c) => {
      const access = pick(c);
      const joined = await workspaces.feeds.join('flags', access.name, access);
      return toEventStream({
        feed: toFileEventFeed(joined.feed, c.req.header('last-event-id'), () => new Date()),
        isStillAllowed: async () => true,
        onEnd: () => joined[Symbol.dispose](),
        signal: c.req.raw.signal,
      });
    });

  function pick({ req }: Context): FlagWorkspace {
    return workspaces.pick(req.query('workspace'));
  }

  function enter(c: Context): AuditedFileAccess {
    const { signal } = c.req.raw;
    return {
      workspace: pick(c),
      label: 'api',
      signal,
      maxUploadBytes: workspaces.maxUploadBytes,
      audit: async () => {},
    };
  }

  /** Every client has this token. So where a person has to approve each change, changes by `/api` are refused. */
  function enterToChange(c: Context): AuditedFileAccess {
    const { permission, access } = pick(c);
    if (access === 'read-write' && needsApproval(permission, { access: 'write' }))
      throw new AppError('E_FORBIDDEN', 'a person has to agree to each change here', {
        hint: 'Make the change with a tool: the call then waits for a person.',
      });
    return enter(c);
  }
}

async function readTree(visit: AuditedFileAccess, { name, root }: FlagWorkspace): Promise<FileTree> {
  const { files } = visit.workspace;
  return wrapRead(visit, '', async () => {
    const entries: FileTree['entries'] = [];
    let cut = false;
    const onCut = () => {
      cut = true;
    };
    for await (const { path, kind, size } of listFiles(files, '', { recursive: true, skip, onCut })) {
      cut ||= entries.length >= maxEntries;
      if (entries.length >= maxEntries) break;
      if (kind === 'directory') entries.push({ path, type: 'dir' });
      if (kind === 'file') entries.push({ path, type: 'file', size });
    }
    entries.sort((one, other) => (one.path < other.path ? -1 : 1));
    return { workspace: name, root, entries, ...(cut && { cut: true as const }) };
  });
}
