import { AppError, FileRemoveQuery, type FileTree, FileZipQuery } from '@croft/protocol';
import { type Context, Hono } from 'hono';
import { listFiles } from '../../core/content/list-files.ts';
import { mustAsk } from '../../core/permission.ts';
import { removePath } from '../files/changes.ts';
import { download } from '../files/download.ts';
import { toEventStream } from '../files/events.ts';
import { readDirectory, readPath } from '../files/paths.ts';
import { upload } from '../files/upload.ts';
import { look, type Visit } from '../files/visit.ts';
import { zip } from '../files/zip.ts';
import { readQuery } from '../query.ts';
import type { FlagDoor, FlagDoors } from './flag-doors.ts';

const maxEntries = 50_000;
const skip: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Files of the workspaces given by flags, for whoever has the server's token. */
export function createApi(doors: FlagDoors) {
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
      return zip(enter(c), options, c.req.raw);
    })
    .get('/events', async (c) => {
      const door = pick(c);
      const joined = await doors.feeds.join('flags', door.name, door);
      return toEventStream({
        feed: joined.feed,
        lastId: c.req.header('last-event-id'),
        now: () => new Date(),
        mayGoOn: async () => true,
        onEnd: () => joined[Symbol.dispose](),
        signal: c.req.raw.signal,
      });
    });

  function pick({ req }: Context): FlagDoor {
    return doors.pick(req.query('workspace'));
  }

  function enter(c: Context): Visit {
    const { signal } = c.req.raw;
    return { door: pick(c), label: 'api', signal, maxUploadBytes: doors.maxUploadBytes, audit: async () => {} };
  }

  /** The token is every client's: where a person agrees to each change, this is no way around them. */
  function enterToChange(c: Context): Visit {
    const { permission, access } = pick(c);
    if (access === 'read-write' && mustAsk(permission, { access: 'write' }))
      throw new AppError('E_FORBIDDEN', 'a person has to agree to each change here: make it with a tool');
    return enter(c);
  }
}

async function readTree(visit: Visit, { name, root }: FlagDoor): Promise<FileTree> {
  const { files } = visit.door;
  return look(visit, '', async () => {
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
