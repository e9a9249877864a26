import { AppError } from '@croft/protocol';
import { temporaryPrefix } from '../temporary.ts';
import { type ChangeFeed, createChangeFeed, type FileChange } from './change-feed.ts';
import type { FileDoor } from './file-door.ts';

export interface ChangeFeedsOptions {
  /** Open at once, of one owner. */
  readonly perOwner: number;
  readonly now: () => Date;
  /** A word nobody has used before. */
  newName(): string;
  /** For how long a feed nobody reads is kept, for those who lost their connection. */
  readonly lingerMs?: number | undefined;
}

export type ChangeFeeds = ReturnType<typeof createChangeFeeds>;

interface Shared {
  readonly feed: ChangeFeed;
  /** When everything from then on is told. */
  readonly ready: Promise<void>;
  readonly stop: AbortController;
  readers: number;
  leaving?: NodeJS.Timeout | undefined;
}

const defaultLingerMs = 60_000;

/** One watcher for all who follow a workspace, from the first of them until a while after the last. */
export function createChangeFeeds({ perOwner, now, newName, lingerMs = defaultLingerMs }: ChangeFeedsOptions) {
  const open = new Map<string, Shared>();
  const counts = new Map<string, number>();

  return {
    /** Throws `E_TOO_MANY`. `owner` is whose feeds are counted, `workspace` one of theirs. */
    async join(owner: string, workspace: string, door: FileDoor): Promise<{ readonly feed: ChangeFeed } & Disposable> {
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

  function start(key: string, { watch }: FileDoor): Shared {
    if (!watch) throw new AppError('E_NOT_FOUND', 'changes of this workspace cannot be followed on this server');
    const feed = createChangeFeed({ name: newName(), now });
    const stop = new AbortController();
    const ready = watch((changes) => feed.push(changes.filter(isShown)), stop.signal);
    const shared: Shared = { feed, ready, stop, readers: 0 };
    open.set(key, shared);
    return shared;
  }

  function leave(owner: string, key: string, shared: Shared): void {
    const left = (counts.get(owner) ?? 1) - 1;
    if (left > 0) counts.set(owner, left);
    else counts.delete(owner);
    shared.readers -= 1;
    if (shared.readers > 0) return;
    shared.leaving = setTimeout(() => end(key, shared), lingerMs);
    shared.leaving.unref();
  }

  function end(key: string, shared: Shared): void {
    clearTimeout(shared.leaving);
    shared.stop.abort();
    if (open.get(key) === shared) open.delete(key);
  }
}

const hidden: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** What git and package managers do there is theirs; half-written files are nobody's. */
function isShown({ path }: FileChange): boolean {
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
