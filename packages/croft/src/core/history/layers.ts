import type { PathChange, TreePath } from './tree.ts';

/** A directory that starts as another and is written to without that one changing. */
export interface Layer extends AsyncDisposable {
  /** An open handle of its root. */
  readonly directory: number;
  readonly path: string;
  /** `overlay`: shares what is not written. `copy`: where this host has no overlays. */
  readonly kind: 'overlay' | 'copy';
}

/** What was done in a layer. */
export interface LayerChanges {
  /** From what the workspace has at each path to what the layer has, in order of path. */
  readonly changes: readonly PathChange[];
  /** Those of them that also changed in the workspace while the layer was open: they cannot be brought together. */
  readonly moved: readonly TreePath[];
}

/** A layer over a workspace that can tell what was done in it, once nothing runs in it any more. */
export interface ChangedLayer extends Layer {
  /** Contents are in the store when this returns. Throws `E_TOO_LARGE` for more than `maxPaths`, or `maxBytes` in them. */
  findChanges(options: {
    readonly maxPaths: number;
    readonly maxBytes?: number | undefined;
    readonly signal: AbortSignal;
  }): Promise<LayerChanges>;
}
