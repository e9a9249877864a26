import { AppError, WorkspaceStorage } from '@croft/protocol';
import type { WorkspaceConfig } from '../../core/accounts/registry.ts';
import type { ObjectStore } from '../../core/objects.ts';
import { createObjectStore, type ObjectStoreOptions } from './object-store.ts';

/** The bucket that the operator has for workspaces without one of their own. */
export type OperatorBucket = Pick<ObjectStoreOptions, 'bucket' | 'endpoint' | 'region' | 'prefix' | 'credentials'>;

export interface ObjectsMeans {
  /** Left out: there is none. */
  readonly managed?: OperatorBucket | undefined;
  /** Whether buckets of accounts may be at private addresses. That of the operator may always. */
  readonly allowPrivate: boolean;
  /** A secret of the account whose workspace it is. */
  readSecret(name: string): Promise<string | undefined>;
}

const defaultRegion = 'us-east-1';

/**
 * The bucket of a workspace, with the credentials that are for it and no others. Throws `E_NOT_FOUND` for a secret that
 * is not there, `E_INVALID_INPUT` for settings that lead where nothing may, `E_STORAGE_FAILED` where there is no bucket.
 */
export async function openObjects(storage: WorkspaceConfig['storage'], means: ObjectsMeans): Promise<ObjectStore> {
  const {
    auth,
    bucket,
    endpoint,
    region = defaultRegion,
    forcePathStyle,
    prefix = '',
  } = WorkspaceStorage.parse(storage);
  // A bucket of the account's choice is never opened with the keys of the operator.
  if (auth === undefined || auth.type === 'managed') return openManaged(means);
  const { accessKeyId, secretName } = auth;
  if (auth.type !== 'secret' || bucket === undefined || accessKeyId === undefined || secretName === undefined)
    throw new AppError('E_STORAGE_FAILED', 'the storage of this workspace cannot be opened by this server');
  const secretAccessKey = await means.readSecret(secretName);
  if (secretAccessKey === undefined) throw noSecret(secretName);
  const credentials = { accessKeyId, secretAccessKey };
  const { allowPrivate } = means;
  return createObjectStore({ bucket, endpoint, region, forcePathStyle, prefix, credentials, allowPrivate });
}

function openManaged({ managed }: ObjectsMeans): ObjectStore {
  if (managed) return createObjectStore({ ...managed, allowPrivate: true });
  throw new AppError(
    'E_STORAGE_FAILED',
    'this server has no bucket of its own; the operator names one with CROFT_S3_BUCKET, or the workspace its own',
  );
}

function noSecret(name: string): AppError {
  return new AppError('E_NOT_FOUND', `the storage of this workspace needs the secret ${name}, which is not there`, {
    details: { secret: name },
  });
}
