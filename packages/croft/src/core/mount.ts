import type { Files } from './files.ts';

/** A workspace that is a directory of this machine, used in place. */
export interface Mount {
  /** The directory when it was opened, every link resolved. */
  readonly directory: string;
  /** The directory itself, whatever has come to stand at its name since. */
  readonly handle: number;
  /** The root as the model may see it. */
  readonly root: string;
  readonly files: Files;
  /** Throws `E_WORKSPACE_GONE` when the directory was deleted. */
  mustBeThere(): void;
}
