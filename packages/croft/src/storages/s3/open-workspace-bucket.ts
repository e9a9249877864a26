import { AppError, WorkspaceStorage } from '@croft/protocol';
import type { WorkspaceConfig } from '../../core/accounts/ports/registry.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import type { CircuitBreakers } from './client/circuit-breakers.ts';
import { createObjectStore, type ObjectStoreOptions } from './client/object-store.ts';

/** The operator's bucket, for workspaces that name none. */
export type OperatorBucket = Pick<ObjectStoreOptions, 'bucket' | 'endpoint' | 'region' | 'prefix' | 'credentials'>;

export interface WorkspaceBucketOptions {
  /** Missing if the operator configured no bucket. */
  readonly managed?: OperatorBucket | undefined;
  /** Whether buckets of accounts may be at private addresses. The operator's own bucket always may. */
  readonly allowPrivate: boolean;
  /** The circuit breakers of the whole server. */
  readonly breakers?: CircuitBreakers | undefined;
  /** Reads a secret of the account that owns the workspace. */
  readSecret(name: string): Promise<string | undefined>;
}

const defaultRegion = 'us-east-1';

/**
 * Opens the bucket of a workspace with the credentials that belong to it, never with others. Throws `E_NOT_FOUND` for a
 * missing secret, `E_INVALID_INPUT` for an endpoint that is not allowed, and `E_STORAGE_FAILED` if there is no bucket.
 */
export async function openWorkspaceBucket(
  storage: WorkspaceConfig['storage'],
  options: WorkspaceBucketOptions,
): Promise<ObjectStore> {
  const {
    auth,
    bucket,
    endpoint,
    region = defaultRegion,
    forcePathStyle,
    prefix = '',
  } = WorkspaceStorage.parse(storage);
  // A bucket that an account names is never opened with the operator's keys.
  if (auth === undefined || auth.type === 'managed') return openManaged(options);
  const { accessKeyId, secretName } = auth;
  if (auth.type !== 'secret' || bucket === undefined || accessKeyId === undefined || secretName === undefined)
    throw new AppError('E_STORAGE_FAILED', 'config.storage of this workspace lacks the bucket or the key for it', {
      hint: 'Nothing was done. Ask the owner of the workspace to set bucket and auth in config.storage.',
    });
  const secretAccessKey = await options.readSecret(secretName);
  if (secretAccessKey === undefined) throw noSecret(secretName);
  const credentials = { accessKeyId, secretAccessKey };
  const { allowPrivate, breakers } = options;
  return createObjectStore({ bucket, endpoint, region, forcePathStyle, prefix, credentials, allowPrivate, breakers });
}

function openManaged({ managed, breakers }: WorkspaceBucketOptions): ObjectStore {
  if (managed) return createObjectStore({ ...managed, allowPrivate: true, breakers });
  throw new AppError(
    'E_STORAGE_FAILED',
    'the storage of this workspace is managed, and this server has no bucket of its own',
    {
      hint: 'Nothing was done. Ask the operator to name a bucket with CROFT_S3_BUCKET, or give the workspace its own.',
    },
  );
}

function noSecret(name: string): AppError {
  return new AppError('E_NOT_FOUND', `the storage of this workspace needs the secret ${name}, which is not there`, {
    details: { secret: name },
    hint: `Nothing was done. Store the key of the bucket: PUT /v1/secrets/${name}.`,
  });
}
