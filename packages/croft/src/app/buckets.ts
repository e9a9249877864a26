import type { ObjectStore } from '../core/objects.ts';
import { type OperatorBucket, openObjects } from '../storages/index.ts';
import type { WorkspaceRecord } from './places.ts';

export interface BucketsOptions {
  /** The operator's own, for workspaces that name none. */
  readonly managed?: OperatorBucket | undefined;
  /** Whether the buckets of accounts may be where only this server's network leads. */
  readonly allowPrivate: boolean;
  secretsOf(accountId: string): Promise<ReadonlyMap<string, string>>;
}

/** Opens the bucket of a workspace, with secrets of the account that it belongs to. */
export function createBuckets({ managed, allowPrivate, secretsOf }: BucketsOptions) {
  return ({ accountId, config }: WorkspaceRecord): Promise<ObjectStore> =>
    openObjects(config.storage, {
      ...{ managed, allowPrivate },
      readSecret: async (name) => (await secretsOf(accountId)).get(name),
    });
}
