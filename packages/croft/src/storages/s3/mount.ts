import { closeSync, fstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { HistoryStore } from '../../core/history/store.ts';
import type { StoredMount, WorkspaceQuota } from '../../core/storage.ts';
import { createDiskFiles } from '../../disk/files.ts';
import { createKeyedLock } from '../../lib/keyed-lock.ts';
import { createHoles } from './holes.ts';
import { type GroundOptions, openGround } from './open-ground.ts';
import { createSync } from './sync.ts';
import { createWholeFiles } from './whole-files.ts';
import { createWholeTree } from './whole-tree.ts';

export interface S3MountOptions extends GroundOptions {
  /** What the agent calls the workspace. */
  readonly name: string;
  readonly quota?: WorkspaceQuota | undefined;
  /** What a commit does that cannot reach the bucket: fail, or answer that it waits. */
  readonly onOutage: 'refuse' | 'queue';
  /** Where its snapshots are kept. Left out: in `store`, on this machine. */
  readonly history?: HistoryStore | undefined;
}

export interface S3Mount extends StoredMount {
  /** The same for an agent that calls it by another name. */
  named(name: string): StoredMount;
  /** Since when the bucket has not answered. */
  readonly unavailableSince: Date | undefined;
}

/** A workspace of a bucket as a directory of this machine. `docs/s3.md` has the protocol. */
export async function openS3Mount(options: S3MountOptions, signal?: AbortSignal): Promise<S3Mount> {
  const { ground, isKnown } = await openGround(options, signal);
  const holes = createHoles(ground);
  const sync = createSync(ground, holes, { ...options, isCurrent: !isKnown });
  const locks = createKeyedLock();
  const { handle } = ground;
  if (isKnown) await sync.catchUp(signal);

  const named = (name: string): StoredMount => {
    const root = `/workspaces/${name}`;
    return {
      directory: realpathSync(join(options.directory, 'files')),
      ...{ handle, root },
      files: createWholeFiles(createDiskFiles({ handle, names: [root], locks }), holes),
      mustBeThere() {
        if (fstatSync(handle).nlink === 0)
          throw new AppError('E_WORKSPACE_GONE', 'the directory of this workspace was deleted');
      },
      refresh: sync.refresh,
      commit: sync.commit,
      flush: sync.flush,
      materialize: (paths, aborted) => holes.materialize(paths, aborted),
      tree: createWholeTree(ground.tree, holes),
      history: options.history ?? options.store,
      close,
    };
  };

  async function close(): Promise<void> {
    await sync.close();
    await ground.tree[Symbol.asyncDispose]();
    ground.manifest.close();
    closeSync(handle);
  }

  return {
    ...named(options.name),
    named,
    get unavailableSince() {
      return sync.unavailableSince;
    },
  };
}
