import type { PathChange, TreePath } from './tree.ts';

/** A directory that starts as a view of another directory. Writes to it do not change the other one. */
export interface Layer extends AsyncDisposable {
  /** Descriptor of the root of the layer. */
  readonly directoryFd: number;
  readonly path: string;
  /** `overlay` shares unwritten files with the directory below. `copy` is for hosts without overlays. */
  readonly kind: 'overlay' | 'copy';
}

/** The changes made in a layer. */
export interface LayerChanges {
  /** Changes from the workspace to the layer, in order of path. */
  readonly changes: readonly PathChange[];
  /** The changed paths that also changed in the workspace while the layer was open. They cannot be merged. */
  readonly alsoChanged: readonly TreePath[];
}

/** A layer over a workspace that can list its changes once no process runs in it any more. */
export interface DiffableLayer extends Layer {
  /**
   * Stores the contents before it returns. Throws `E_TOO_LARGE` for more than `maxPaths` paths, or more than `maxBytes`
   * in them.
   */
  findChanges(options: {
    readonly maxPaths: number;
    readonly maxBytes?: number | undefined;
    readonly signal: AbortSignal;
  }): Promise<LayerChanges>;
}
