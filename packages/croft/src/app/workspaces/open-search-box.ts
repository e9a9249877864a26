import type { SearchBox } from '../../core/content/search/search-box.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { SearchBoxPool } from './search-box-pool.ts';

/** The directory that the search box shows. */
export interface SearchedDirectory {
  /** An open file descriptor of the directory. The directory may have to be filled first. */
  directoryFd(): number | Promise<number>;
  /** Throws `E_WORKSPACE_GONE`. */
  mustBeThere(): void;
  /** The tree of its history, which knows what changed. Absent: the directory has no history. */
  tree?(): Promise<Pick<WorkingTree, 'touchedSince'>>;
}

/** Returns the method `withSearchBox` of a workspace whose directory is on this machine. */
export function openSearchBox(
  { directoryFd, mustBeThere }: SearchedDirectory,
  workspacePath: string,
  searches: SearchBoxPool,
): Workspace['withSearchBox'] {
  return async <T>(work: (box: SearchBox) => Promise<T>): Promise<T> =>
    searches.openIn({ directoryFd: await directoryFd(), workspacePath }, mustBeThere)(work);
}
