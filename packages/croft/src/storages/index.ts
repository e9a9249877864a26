import { closeSync } from 'node:fs';
import type { Durability } from '../core/durability.ts';
import type { Mount } from '../core/mount.ts';
import { goQuote } from '../lib/text/go-quote.ts';
import { openLocal } from './local.ts';

export { createKeptWorkspaces, type KeptForks, type KeptWorkspaces, namespaceOf } from './kept.ts';
export { openLocal } from './local.ts';
export { openLocalMount } from './local-mount.ts';
export { createDirectGlob } from './s3/direct-glob.ts';
export { createDirectObjects } from './s3/direct-objects.ts';
export { openS3Mount, type S3Mount } from './s3/mount.ts';
export { type ObjectsMeans, type OperatorBucket, openObjects } from './s3/open-objects.ts';
export { keepToOwnKeys } from './s3/own-keys.ts';
export { putTree } from './s3/put-tree.ts';
export { removeWorkspaceObjects } from './s3/remove-workspace.ts';
export { createS3Files } from './s3/s3-files.ts';
export { createS3Store } from './s3/s3-store.ts';

/** A workspace as the operator gave it. */
export interface WorkspaceSource {
  /** Left out: the last name of the directory. */
  readonly name?: string;
  readonly path: string;
  /** What the model sees as the root, when that is not the directory itself. */
  readonly root?: string;
}

export interface NamedMount extends Mount {
  readonly name: string;
}

/** Throws an `Error` for the operator. Two workspaces over the same files would each bypass the other's rules. */
export function openMounts(sources: readonly WorkspaceSource[], durability?: Durability): NamedMount[] {
  if (sources.length === 0) throw new Error('at least one workspace entry is required');
  const mounts = sources.map((source, index) => openNamed({ ...source, durability }, index, sources.length));
  mounts.forEach(checkApart);
  return mounts;
}

/** Of one that nobody uses any more. */
export function closeMount({ handle }: Pick<Mount, 'handle'>): void {
  closeSync(handle);
}

interface Opening extends WorkspaceSource {
  readonly durability: Durability | undefined;
}

function openNamed({ name, ...source }: Opening, index: number, total: number): NamedMount {
  try {
    const mount = openLocal(source);
    // As a call says it: spaces around the name in a call do not count.
    return { ...mount, name: name ?? (mount.directory.split('/').at(-1)?.trim() || 'root') };
  } catch (thrown) {
    if (total === 1 && name === undefined) throw thrown;
    throw new Error(`workspace[${index}] (${name}): ${thrown instanceof Error ? thrown.message : thrown}`);
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
