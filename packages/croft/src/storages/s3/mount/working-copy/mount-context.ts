import type { WorkingTree } from '../../../../core/history/ports/working-tree.ts';
import type { ObjectStore } from '../../../../core/storage/object-store.ts';
import type { Owner } from '../../../../lib/files/workspace-owner.ts';
import type { MountManifest } from './manifest.ts';

/** State that all parts of one mount share. */
export interface MountContext {
  readonly objects: ObjectStore;
  readonly namespace: string;
  readonly manifest: MountManifest;
  readonly tree: WorkingTree;
  /** Handle of the root directory of the working tree. */
  readonly handle: number;
  /** Directory for large contents on their way in and out, on the same disk as the working tree. */
  readonly spool: string;
  /** Owner of the files. Defaults to the user of this process. */
  readonly owner?: Owner | undefined;
  /** Reports to the operator a file that was left alone. The same message is reported once. */
  warn(message: string): void;
  progress(phase: MountPhase, done: number, total?: number): void;
}

export type MountPhase = 'open' | 'fetch' | 'commit';

/** Number of concurrent requests. */
export const requestsAtATime = 32;
/** Larger contents go to the spool, not to memory. */
export const maxBufferedBytes = 1 << 20;

export function objectKey({ namespace }: Pick<MountContext, 'namespace'>, key: string): string {
  return `${namespace}/${key}`;
}
