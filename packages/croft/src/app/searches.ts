import { createSandboxPool } from '../core/commands/sandbox-pool.ts';
import type { SearchBox, SearchBoxSpec } from '../core/content/search-box.ts';
import { createSearchBoxes } from '../providers/index.ts';

type Place = Omit<SearchBoxSpec, 'programs'>;

export type Searches = ReturnType<typeof createSearches>;

/** To open one anew costs a search some milliseconds. */
const idleMs = 60_000;

/** Where searches run. Boxes belong to the workspaces rather than to a session: nothing of a search stays in one. */
export function createSearches() {
  const { open } = createSearchBoxes();
  const places = new Map<string, Place>();
  const pool = createSandboxPool<SearchBox>({
    idleMs,
    async open(key) {
      const place = places.get(key);
      if (!place) throw new Error(`there is no workspace ${key}`);
      return open({ ...place, programs: ['rg'] });
    },
  });

  return {
    /** Runs `work` with the box of a workspace, which `mustBeThere` first. */
    openIn(place: Place, mustBeThere: () => void) {
      const key = JSON.stringify([place.directory, place.workspacePath]);
      places.set(key, place);
      return async <T>(work: (box: SearchBox) => Promise<T>): Promise<T> => {
        mustBeThere();
        return pool.use(key, work);
      };
    },
    close: pool.close,
  };
}
