import type { Files } from '../../../core/files/files.ts';
import type { WorkingTree } from '../../../core/history/ports/working-tree.ts';
import type { Placeholders } from './working-copy/placeholders.ts';

/** Wraps `Files` of a mount with placeholders: the content of a file is downloaded before it is used. */
export function createFilesWithPlaceholders(files: Files, placeholders: Placeholders): Files {
  async function download(path: string): Promise<void> {
    if (placeholders.size === 0) return;
    const found = await files.stat(path).catch(() => undefined);
    if (found) await placeholders.materialize(placeholders.at(found.path));
  }
  const afterDownload =
    <Rest extends unknown[], T>(work: (path: string, ...rest: Rest) => Promise<T>) =>
    async (path: string, ...rest: Rest): Promise<T> => {
      await download(path);
      return work(path, ...rest);
    };

  return {
    ...files,
    read: afterDownload(files.read),
    open: afterDownload(files.open),
    version: afterDownload(files.version),
    write: afterDownload(files.write),
    upload: afterDownload(files.upload),
    rename: afterDownload(files.rename),
    async change(path, decide, options) {
      await download(path);
      return files.change(path, decide, options);
    },
  };
}

/** Wraps the working tree for callers that store contents: all placeholders are filled before a capture or an apply. */
export function createTreeWithPlaceholders(tree: WorkingTree, placeholders: Placeholders): WorkingTree {
  const afterDownload =
    <Rest extends unknown[], T>(work: (...rest: Rest) => Promise<T>) =>
    async (...rest: Rest): Promise<T> => {
      await placeholders.materialize(undefined);
      return work(...rest);
    };
  return {
    store: tree.store,
    capture: afterDownload((options) => tree.capture(options)),
    apply: afterDownload((changes, options) => tree.apply(changes, options)),
    diff: (before, after) => tree.diff(before, after),
    entry: (root, path) => tree.entry(root, path),
    entries: (root) => tree.entries(root),
    amend: (root, changes) => tree.amend(root, changes),
    draft: (root, change) => tree.draft(root, change),
    isOfSource: (path) => tree.isOfSource(path),
    totals: () => tree.totals(),
    markMoment: () => tree.markMoment(),
    removeFilesMadeSince: (since) => tree.removeFilesMadeSince(since),
    touchedSince: (asker) => tree.touchedSince(asker),
    watch: (onChange, signal) => tree.watch(onChange, signal),
    [Symbol.asyncDispose]: () => tree[Symbol.asyncDispose](),
  };
}
