import { type CodeIndexes, createCodeIndexes } from '../../code-index/create-code-indexes.ts';
import type { CodeIndex } from '../../core/code/ports/code-index.ts';
import type { Syntax } from '../../core/code/syntax.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { type FollowedPaths, followDirectoryChanges } from '../../history/follow-directory-changes.ts';
import { isOutside } from '../../history/local-trees.ts';
import { once } from '../../lib/concurrency/once.ts';
import type { SearchedDirectory } from './open-search-box.ts';

export { indexDirectory } from '../../code-index/create-code-indexes.ts';

/** A workspace on this machine. */
interface WorkspaceDirectory extends SearchedDirectory, Pick<Workspace, 'files' | 'withSearchBox'> {
  readonly key: string;
}

/** Name of the cursor on the changes that a history's tree counts. */
const asker = 'code-index';

export type WorkspaceIndexes = ReturnType<typeof openCodeIndexes>;

interface CodeIndexesOptions {
  readonly data: string | undefined;
  readonly syntax: Syntax | undefined;
  onWarning(message: string): void;
}

/** Opens the indexes of all workspaces on this machine. Without a data directory or a parser there are none. */
export function openCodeIndexes({ data, syntax, onWarning }: CodeIndexesOptions) {
  const indexes: CodeIndexes | undefined =
    data === undefined || !syntax ? undefined : createCodeIndexes({ data, syntax, onWarning });
  const followed = new Map<string, { follow(): Promise<FollowedPaths> }>();

  /** Follows a directory whose history does not do so already. */
  function followOf({ key, directoryFd }: WorkspaceDirectory): Promise<FollowedPaths> {
    const known = followed.get(key) ?? { follow: once(async () => followDirectoryChanges(await directoryFd())) };
    followed.set(key, known);
    return known.follow();
  }

  async function unfollow(key: string): Promise<void> {
    const known = followed.get(key);
    followed.delete(key);
    (await known?.follow().catch(() => undefined))?.close();
  }

  return {
    /**
     * Returns the index of a workspace; it is opened at its first use. Returns nothing if the index would be inside the
     * workspace itself.
     */
    of(workspace: WorkspaceDirectory): CodeIndex | undefined {
      const { key, tree, files, withSearchBox, mustBeThere } = workspace;
      if (!indexes || data === undefined || (key.startsWith('/') && !isOutside(data, key))) return undefined;
      return indexes.of(key, {
        ...{ files, withSearchBox },
        async take() {
          mustBeThere();
          return tree ? (await tree()).touchedSince(asker) : (await followOf(workspace)).take();
        },
      });
    },
    async close(key: string): Promise<void> {
      await indexes?.close(key);
      await unfollow(key);
    },
    /** Removes the index of a workspace that is removed. */
    async remove(key: string): Promise<void> {
      await unfollow(key);
      await indexes?.remove(key);
    },
    async closeAll(): Promise<void> {
      await indexes?.closeAll();
      await Promise.all([...followed.keys()].map(unfollow));
    },
  };
}
