import { closeSync, fstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { HistoryStore } from '../../../core/history/ports/history-store.ts';
import type { StoredMount, WorkspaceQuota } from '../../../core/storage/stored-mount.ts';
import { createDiskFiles } from '../../../disk/disk-files.ts';
import { createKeyedLock } from '../../../lib/concurrency/keyed-lock.ts';
import { createBucketSync } from './bucket-sync.ts';
import { createFilesWithPlaceholders, createTreeWithPlaceholders } from './fill-placeholders-on-use.ts';
import { openWorkingCopy, type WorkingCopyOptions } from './open-working-copy.ts';
import { createPlaceholders } from './working-copy/placeholders.ts';

export interface S3MountOptions extends WorkingCopyOptions {
  /** The agent's name for the workspace. */
  readonly name: string;
  readonly quota?: WorkspaceQuota | undefined;
  /** Whether a commit that cannot reach the bucket fails, or succeeds and reports the paths as waiting. */
  readonly onOutage: 'refuse' | 'queue';
  /** The store of snapshots. Default: `store`, on this machine. */
  readonly history?: HistoryStore | undefined;
}

export interface S3Mount extends StoredMount {
  /** Returns the mount for an agent that uses another name for it. */
  named(name: string): StoredMount;
  /** The time since which the bucket does not answer; `undefined` if it answers. */
  readonly unavailableSince: Date | undefined;
}

/** Opens a workspace in a bucket as a directory of this machine. `docs/s3.md` describes the protocol. */
export async function openS3Mount(options: S3MountOptions, signal?: AbortSignal): Promise<S3Mount> {
  const { context, isKnown } = await openWorkingCopy(options, signal);
  const placeholders = createPlaceholders(context);
  const sync = createBucketSync(context, placeholders, { ...options, isCurrent: !isKnown });
  const locks = createKeyedLock();
  const { handle } = context;
  if (isKnown) await sync.catchUp(signal);

  const named = (name: string): StoredMount => {
    const root = `/workspaces/${name}`;
    return {
      directory: realpathSync(join(options.directory, 'files')),
      ...{ handle, root },
      files: createFilesWithPlaceholders(createDiskFiles({ handle, names: [root], locks }), placeholders),
      mustBeThere() {
        if (fstatSync(handle).nlink === 0)
          throw new AppError('E_WORKSPACE_GONE', 'the directory of this workspace was deleted');
      },
      refresh: sync.refresh,
      commit: sync.commit,
      flush: sync.flush,
      materialize: (paths, aborted) => placeholders.materialize(paths, aborted),
      tree: createTreeWithPlaceholders(context.tree, placeholders),
      history: options.history ?? options.store,
      close,
    };
  };

  async function close(): Promise<void> {
    await sync.close();
    await context.tree[Symbol.asyncDispose]();
    context.manifest.close();
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
