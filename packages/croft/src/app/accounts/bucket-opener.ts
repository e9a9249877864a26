import type { Emit } from '../../core/events/emitter.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import {
  type CircuitBreakers,
  createCircuitBreakers,
  type OperatorBucket,
  openWorkspaceBucket,
} from '../../storages/index.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';

export interface BucketOpenerOptions {
  /** The operator's bucket, for workspaces that name no bucket. */
  readonly managed?: OperatorBucket | undefined;
  /** Whether buckets of accounts may be at private addresses that only this server's network reaches. */
  readonly allowPrivate: boolean;
  readonly breakers?: CircuitBreakers | undefined;
  secretsOf(accountId: string): Promise<ReadonlyMap<string, string>>;
}

/** Opens the bucket of a workspace with the secrets of its account. */
export function createBucketOpener({ managed, allowPrivate, breakers, secretsOf }: BucketOpenerOptions) {
  return ({ accountId, config }: WorkspaceRecord): Promise<ObjectStore> =>
    openWorkspaceBucket(config.storage, {
      ...{ managed, allowPrivate, breakers },
      readSecret: async (name) => (await secretsOf(accountId)).get(name),
    });
}

/** Tells the operator when a bucket stops answering and when it answers again: each time one log line and one event. */
export function watchBuckets(emit: Emit, onWarning: (message: string) => void): CircuitBreakers {
  const began = new Map<string, Date>();
  return createCircuitBreakers({
    onChange(bucket, since) {
      const start = since ?? began.get(bucket) ?? new Date();
      if (since) began.set(bucket, since);
      else began.delete(bucket);
      const seconds = Math.round((Date.now() - start.getTime()) / 1000);
      const state = since ? 'began' : 'ended';
      emit('lifecycle.storage.outage', () => ({
        bucket,
        state,
        since: start.toISOString(),
        ...(!since && { seconds }),
      }));
      onWarning(
        since ? `the bucket ${bucket} does not answer` : `the bucket ${bucket} answers again, after ${seconds} s`,
      );
    },
  });
}
