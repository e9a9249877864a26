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
  /** Throws `E_WORKSPACE_GONE` when the directory was deleted. */
  mustBeThere(): void;
}
