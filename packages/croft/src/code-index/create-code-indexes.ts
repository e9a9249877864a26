import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodeIndex } from '../core/code/ports/code-index.ts';
import type { Syntax } from '../core/code/syntax.ts';
import type { Workspace } from '../core/workspace/workspace.ts';
import { createConcurrencyLimit } from '../lib/concurrency/concurrency-limit.ts';
import { maxStale } from './find-symbols.ts';
import { closeIndexEverywhere, createIndexClient } from './index-client.ts';
import { createIndexFeed } from './index-feed.ts';
import type { TakeChangedPaths } from './select-changed-files.ts';

interface CodeIndexesOptions {
  /** The data directory. */
  readonly data: string;
  readonly syntax: Syntax;
  /** Tells the operator that an index does not work. Searches then read the files. */
  onWarning(message: string): void;
}

/** A workspace on this machine, as an index reads it. */
interface IndexedWorkspace extends Pick<Workspace, 'files' | 'withSearchBox'> {
  readonly take: TakeChangedPaths;
}

interface OpenedIndex extends CodeIndex {
  /** The workspace as it was opened last. */
  workspace: IndexedWorkspace;
  close(): Promise<void>;
}

/** An answer that takes longer comes from the files. */
const maxAnswerMs = 2000;
/** A map waits at most this long for the index to read files that it does not have yet. */
const maxMapWaitMs = 15_000;

export type CodeIndexes = ReturnType<typeof createCodeIndexes>;

/** Returns the directory of an index, named like the history of the same workspace. */
export function indexDirectory(data: string, key: string): string {
  return join(data, 'code', createHash('sha256').update(key).digest('hex').slice(0, 32));
}

/** The indexes of all workspaces on this machine. Sessions of a workspace share its index. */
export function createCodeIndexes({ data, syntax, onWarning }: CodeIndexesOptions) {
  const opened = new Map<string, OpenedIndex>();
  const turns = createConcurrencyLimit(1);

  function open(key: string, given: IndexedWorkspace): OpenedIndex {
    const file = join(indexDirectory(data, key), 'index.db');
    const client = createIndexClient(file, onWarning);
    const closing = new AbortController();
    const { signal } = closing;
    const feed = createIndexFeed({
      ...{ file, client, syntax, turns, signal },
      take: () => index.workspace.take(),
      workspace: { withSearchBox: (work) => index.workspace.withSearchBox(work) },
      files: { read: (path, options) => index.workspace.files.read(path, options) },
    });
    const index: OpenedIndex = {
      workspace: given,
      async search(question, callSignal) {
        const isKnown = await feed.refresh();
        callSignal.throwIfAborted();
        const found = isKnown && (await within(maxAnswerMs, client.ask('find', question)));
        return found && found.stale.length <= maxStale ? found : undefined;
      },
      async map(question, callSignal) {
        const stale = await feed.built(AbortSignal.any([callSignal, AbortSignal.timeout(maxMapWaitMs)]));
        callSignal.throwIfAborted();
        const symbols = await client.ask('map', question);
        return symbols && (stale || symbols.length > 0) ? { symbols, isComplete: stale?.length === 0 } : undefined;
      },
      async close() {
        closing.abort();
        await feed.idle();
        await closeIndexEverywhere(file);
      },
    };
    return index;
  }

  async function close(key: string): Promise<void> {
    const known = opened.get(key);
    opened.delete(key);
    await known?.close();
  }

  return {
    /**
     * Returns the index of a workspace. It is opened at its first use, and opened again when it is used after it was
     * closed.
     */
    of(key: string, workspace: IndexedWorkspace): CodeIndex {
      const reach = (): OpenedIndex => {
        const index = opened.get(key) ?? open(key, workspace);
        index.workspace = workspace;
        opened.set(key, index);
        return index;
      };
      return {
        search: (question, signal) => reach().search(question, signal),
        map: (question, signal) => reach().map(question, signal),
      };
    },
    close,
    /** Removes the index of a workspace that is removed. */
    async remove(key: string): Promise<void> {
      await close(key);
      await rm(indexDirectory(data, key), { recursive: true, force: true });
    },
    async closeAll(): Promise<void> {
      await Promise.all([...opened.keys()].map(close));
    },
  };
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, limitMs, undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
