import type { Files } from '../files/files.ts';

/** A workspace that is a directory of this machine, used in place. */
export interface WorkspaceMount {
  /** Path of the directory when it was opened, with every link resolved. */
  readonly directory: string;
  /** Descriptor of the opened directory. Stays valid when the directory is renamed or replaced. */
  readonly handle: number;
  /** The path of the root as shown to the model. */
  readonly root: string;
  readonly files: Files;
  /**
   * Starts in the background what the first change would have to wait for: the search for the paths that settings of
   * git lead to. Absent: the first change starts it.
   */
  prepareChanges?(): void;
  /** Throws `E_WORKSPACE_GONE` when the directory was deleted. */
  mustBeThere(): void;
}
