import type { WorkingTree } from '../../core/history/working-tree.ts';
import type { ObjectStore } from '../../core/objects.ts';
import type { Owner } from '../../lib/workspace-owner.ts';
import type { Manifest } from './manifest.ts';

/** What the parts of one mount share. */
export interface Ground {
  readonly objects: ObjectStore;
  readonly namespace: string;
  readonly manifest: Manifest;
  readonly tree: WorkingTree;
  /** The root of the working tree. */
  readonly handle: number;
  /** Where large contents are put on their way in and out, on the same disk as the working tree. */
  readonly spool: string;
  /** Whose the files are. Left out: those of whoever runs this. */
  readonly owner?: Owner | undefined;
  /** For the operator: what was left alone. The same is said once. */
  warn(message: string): void;
  progress(phase: MountPhase, done: number, total?: number): void;
}

export type MountPhase = 'open' | 'fetch' | 'commit';

/** How many requests are under way at a time. */
export const requestsAtATime = 32;
/** Larger contents are not held in memory. */
export const maxHeldBytes = 1 << 20;

export function objectKey({ namespace }: Pick<Ground, 'namespace'>, key: string): string {
  return `${namespace}/${key}`;
}
