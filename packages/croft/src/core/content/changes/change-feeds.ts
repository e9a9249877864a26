import { AppError } from '@croft/protocol';
import { temporaryPrefix } from '../../files/temporary-prefix.ts';
import { type ChangeFeed, createChangeFeed, type FileChange } from './change-feed.ts';
import type { FileAccess } from './file-access.ts';

interface ChangeFeedsOptions {
  /** Most feeds that one owner may have open. */
  readonly perOwner: number;
  readonly now: () => Date;
  /** Returns a name that was never used before. */
  newName(): string;
  /** How long a feed stays open after its last reader, for readers that lost their connection. */
  readonly lingerMs?: number | undefined;
}

export type ChangeFeeds = ReturnType<typeof createChangeFeeds>;

interface SharedFeed {
  readonly feed: ChangeFeed;
  /** Resolves when the watcher reports every change from then on. */
  readonly ready: Promise<void>;
  readonly stop: AbortController;
  readers: number;
  leaving?: NodeJS.Timeout | undefined;
}

const defaultLingerMs = 60_000;

/** Shares one watcher per workspace among all readers, from the first until a while after the last. */
export function createChangeFeeds({ perOwner, now, newName, lingerMs = defaultLingerMs }: ChangeFeedsOptions) {
  const open = new Map<string, SharedFeed>();
  const counts = new Map<string, number>();

  return {
    /** Adds a reader. Throws `E_TOO_MANY`. `owner` is whose feeds are counted, `workspace` one of the owner's. */
    async join(
      owner: string,
      workspace: string,
      door: FileAccess,
    ): Promise<{ readonly feed: ChangeFeed } & Disposable> {
      const count = counts.get(owner) ?? 0;
      if (count >= perOwner) throw tooMany(perOwner);
      const key = JSON.stringify([owner, workspace]);
      const shared = open.get(key) ?? start(key, door);
      clearTimeout(shared.leaving);
      shared.readers += 1;
      counts.set(owner, count + 1);
      const letGo = once(() => leave(owner, key, shared));
      await shared.ready.catch((thrown) => {
        letGo();
        end(key, shared);
        throw thrown;
      });
      return { feed: shared.feed, [Symbol.dispose]: letGo };
    },
    close(): void {
      for (const [key, shared] of open) end(key, shared);
    },
  };

  function start(key: string, { watch }: FileAccess): SharedFeed {
    if (!watch)
      throw new AppError('E_NOT_FOUND', 'this server cannot follow the changes of this workspace', {
        hint: 'List the files again instead.',
      });
    const feed = createChangeFeed({ name: newName(), now });
    const stop = new AbortController();
    const ready = watch((changes) => feed.push(changes.filter(isVisibleChange)), stop.signal);
    const shared: SharedFeed = { feed, ready, stop, readers: 0 };
    open.set(key, shared);
    return shared;
  }

  function leave(owner: string, key: string, shared: SharedFeed): void {
    const left = (counts.get(owner) ?? 1) - 1;
    if (left > 0) counts.set(owner, left);
    else counts.delete(owner);
    shared.readers -= 1;
    if (shared.readers > 0) return;
    shared.leaving = setTimeout(() => end(key, shared), lingerMs);
    shared.leaving.unref();
  }

  function end(key: string, shared: SharedFeed): void {
    clearTimeout(shared.leaving);
    shared.stop.abort();
    if (open.get(key) === shared) open.delete(key);
  }
}

const hidden: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Hides the directories of git and package managers, and files that are half written. */
function isVisibleChange({ path }: FileChange): boolean {
  return path.split('/').every((name) => !hidden.has(name) && !name.startsWith(temporaryPrefix));
}

function tooMany(max: number): AppError {
  return new AppError('E_TOO_MANY', `${max} change feeds are open already`, { details: { max } });
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
