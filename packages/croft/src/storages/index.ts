import { closeSync } from 'node:fs';
import type { WorkspaceMount } from '../core/storage/workspace-mount.ts';
import { errorMessage } from '../lib/error-message.ts';
import { goQuote } from '../lib/text/go-quote.ts';
import { type LocalDirectoryOptions, openLocalDirectory } from './local-directory.ts';

export { claimDataDirectory, type DataClaim, type DataOwner, readOwner } from './claim-data-directory.ts';
export { createDataDirectory, type DataDirectory, type DataDirectoryForks, namespaceOf } from './data-directory.ts';
export { readDataDirectoryId } from './data-directory-id.ts';
export { DamagedTrail, readTrail, tornAtEnd } from './local-audit-trail/read-trail.ts';
export { createTrailAppender } from './local-audit-trail/trail-appender.ts';
export { createTrailReader } from './local-audit-trail/trail-reader.ts';
export { openLocalDirectory } from './local-directory.ts';
export { type CircuitBreakers, createCircuitBreakers } from './s3/client/circuit-breakers.ts';
export { createDirectGlob } from './s3/direct/direct-glob.ts';
export { createDirectObjects } from './s3/direct/direct-objects.ts';
export { createS3Files } from './s3/direct/s3-files.ts';
export { createS3HistoryStore } from './s3/history/s3-history-store.ts';
export { restrictToWorkspace } from './s3/layout/restrict-to-workspace.ts';
export { nameSome } from './s3/mount/commit/conflicts.ts';
export { openS3Mount, type S3Mount } from './s3/mount/s3-mount.ts';
export { type OperatorBucket, openWorkspaceBucket, type WorkspaceBucketOptions } from './s3/open-workspace-bucket.ts';
export { putTree } from './s3/put-tree.ts';
export { removeWorkspaceObjects, workspacePrefixes } from './s3/remove-workspace-objects.ts';

/** A workspace that the operator named with a flag or in the configuration. */
export interface WorkspaceSource {
  /** Defaults to the last component of `path`. */
  readonly name?: string;
  readonly path: string;
  /** The root that the model sees, if it is not the directory itself. */
  readonly root?: string;
}

type MountOptions = Pick<LocalDirectoryOptions, 'durability' | 'allowControl'>;

export interface NamedMount extends WorkspaceMount {
  readonly name: string;
}

/**
 * Throws an `Error` with a message for the operator. Workspaces must not overlap: each would bypass the rules of the
 * other.
 */
export function openMounts(sources: readonly WorkspaceSource[], options: MountOptions = {}): NamedMount[] {
  const mounts = sources.map((source, index) => openNamed({ ...source, ...options }, index, sources.length));
  mounts.forEach(checkApart);
  return mounts;
}

/** Closes a mount that is no longer used. */
export function closeMount({ handle }: Pick<WorkspaceMount, 'handle'>): void {
  closeSync(handle);
}

function openNamed({ name, ...source }: WorkspaceSource & MountOptions, index: number, total: number): NamedMount {
  try {
    const mount = openLocalDirectory(source);
    // Trimmed, because spaces around the name in a call are ignored.
    return { ...mount, name: name ?? (mount.directory.split('/').at(-1)?.trim() || 'root') };
  } catch (thrown) {
    if (total === 1 && name === undefined) throw thrown;
    throw new Error(`workspace[${index}] (${name}): ${errorMessage(thrown)}`);
  }
}

function checkApart(mount: NamedMount, index: number, mounts: readonly NamedMount[]): void {
  for (const other of mounts.slice(0, index)) {
    const [inner, outer] = other.directory.length > mount.directory.length ? [other, mount] : [mount, other];
    const isSame = inner.directory === outer.directory;
    if (!isSame && !inner.directory.startsWith(outer.directory === '/' ? '/' : `${outer.directory}/`)) continue;
    const relation = isSame ? 'the same directory as' : 'inside';
    throw new Error(
      `workspace[${index}] (${mount.name}): the root of ${goQuote(inner.name)} is ${relation} the root of ` +
        `${goQuote(outer.name)} (${goQuote(outer.directory)}); give each workspace a directory of its own`,
    );
  }
}
