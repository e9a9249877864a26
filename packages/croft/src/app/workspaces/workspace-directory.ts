import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';

export interface WorkspaceDirectory {
  readonly name: string;
  readonly root: string;
  /** Identifies the directory, the same on every start of the server. Results of checks are stored under it. */
  readonly key: string;
  /** An open file descriptor of the directory. The directory may have to be filled first. */
  directoryFd(): number | Promise<number>;
  /** The tree of its history, which counts changes. Absent: it has none. */
  tree?(): Promise<Pick<WorkingTree, 'touchedSince'>>;
  readonly files: Workspace['files'];
  /** Throws `E_WORKSPACE_GONE`. */
  mustBeThere(): void;
}
