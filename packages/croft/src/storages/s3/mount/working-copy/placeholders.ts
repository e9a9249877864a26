import { lstatSync } from 'node:fs';
import type { TreePath } from '../../../../core/history/ports/tree.ts';
import { inParallel } from '../../../../lib/concurrency/in-parallel.ts';
import { createKeyedLock } from '../../../../lib/concurrency/keyed-lock.ts';
import { keyOfPath, pathOfKey } from '../../layout/object-keys.ts';
import { toSpoolFile } from './buffered-content.ts';
import { fetchObject } from './fetch-object.ts';
import { createLocalFileMaker } from './local-file-maker.ts';
import type { PlaceholderFile } from './manifest.ts';
import type { MountContext } from './mount-context.ts';
import { recordObject, updateBaseTree } from './publish-commit.ts';
import { type FdRelativePath, isGone, withParentOpen } from './with-parent-open.ts';

const fetchesAtATime = 4;

export type Placeholders = ReturnType<typeof createPlaceholders>;

/**
 * Placeholders for large files whose content was not downloaded yet. They exist only between the first opening of a
 * workspace and the first command in it: no command ever sees a placeholder, and none is committed.
 */
export function createPlaceholders(context: MountContext) {
  const locks = createKeyedLock();
  const placing = createLocalFileMaker(context.owner);
  const open = new Set(context.manifest.placeholders());

  /** Replaces a placeholder by the content, unless something else has its path by now. */
  async function download(key: string, signal?: AbortSignal): Promise<void> {
    const placeholder = context.manifest.get(key)?.placeholder;
    const path = pathOfKey(key);
    if (!placeholder || path === undefined) return void open.delete(key);
    if (await withPathOf(path, (entry) => isPlaceholder(entry, placeholder))) {
      const incoming = await fetchObject(context, key, signal);
      await using content = incoming?.content;
      if (!content || !incoming) return forget(key);
      const file = await toSpoolFile(content, context.spool);
      await withPathOf(path, (entry) => {
        if (isPlaceholder(entry, placeholder)) placing.move(file, entry, incoming.known.mode);
      });
      const base = await updateBaseTree(context, [incoming]);
      context.manifest.change(() => {
        recordObject(context, incoming);
        context.manifest.setState({ base });
      });
      return void open.delete(key);
    }
    forget(key);
  }

  function forget(key: string): void {
    const known = context.manifest.get(key);
    if (known) context.manifest.put(key, { ...known, placeholder: undefined });
    open.delete(key);
  }

  async function withPathOf<T>(path: TreePath, work: (entry: FdRelativePath) => T): Promise<T | undefined> {
    try {
      return await withParentOpen(context.handle, path, work);
    } catch (thrown) {
      if (isGone(thrown)) return undefined;
      throw thrown;
    }
  }

  return {
    get size() {
      return open.size;
    },
    async materialize(paths: readonly TreePath[] | undefined, signal?: AbortSignal): Promise<void> {
      const keys = paths ? paths.map((path) => keyOfPath(path) ?? '').filter((key) => open.has(key)) : [...open];
      await inParallel(keys, fetchesAtATime, (key) => locks.run(key, () => download(key, signal)));
    },
    /** The placeholders at a path or below it. */
    at: (path: TreePath): TreePath[] =>
      [...open].flatMap((key) => pathOfKey(key) ?? []).filter((each) => isWithin(each, path)),
  };
}

function isWithin(path: TreePath, directory: TreePath): boolean {
  return directory === '' || path === directory || path.startsWith(`${directory}/`);
}

function isPlaceholder(path: FdRelativePath, { inode, mtimeNs }: PlaceholderFile): boolean {
  const stats = lstatSync(path, { bigint: true });
  return String(stats.ino) === inode && String(stats.mtimeNs) === mtimeNs;
}
