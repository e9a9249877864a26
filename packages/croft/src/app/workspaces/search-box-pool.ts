import { createSandboxPool } from '../../core/commands/sandbox-pool.ts';
import type { SearchBox, SearchBoxSpec } from '../../core/content/search/search-box.ts';
import { createSearchBoxes } from '../../providers/index.ts';

type SearchedDirectory = Omit<SearchBoxSpec, 'programs'>;

export type SearchBoxPool = ReturnType<typeof createSearchBoxPool>;

/** Opening a box costs a search some milliseconds, so idle boxes stay open for this long. */
const idleMs = 60_000;

/** Sandboxes for searches. A box belongs to a workspace and not to a session, because a search leaves nothing in it. */
export function createSearchBoxPool() {
  const { open } = createSearchBoxes();
  const directories = new Map<string, SearchedDirectory>();
  const pool = createSandboxPool<SearchBox>({
    idleMs,
    async open(key) {
      const searched = directories.get(key);
      if (!searched) throw new Error(`there is no workspace ${key}`);
      return open({ ...searched, programs: ['rg', 'ast-grep'] });
    },
  });

  return {
    /** Returns a function that runs `work` with the search box of a workspace, after `mustBeThere` passed. */
    openIn(searched: SearchedDirectory, mustBeThere: () => void) {
      const key = JSON.stringify([searched.directoryFd, searched.workspacePath]);
      directories.set(key, searched);
      return async <T>(work: (box: SearchBox) => Promise<T>): Promise<T> => {
        mustBeThere();
        return pool.use(key, work);
      };
    },
    close: pool.close,
  };
}
