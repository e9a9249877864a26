import { type AppError, WorkspaceConfigInput, type WorkspaceStorage } from '@croft/protocol';
import { z } from 'zod';
import type { WorkspaceConfig } from '../ports/registry.ts';
import { invalidArgument } from './invalid-argument.ts';
import { parseRequestBody } from './parse-request-body.ts';

/** Parses a workspace's config, from a caller or from the records. Parsing the result again gives the same result. */
export function createWorkspaceConfigParser(
  storages: readonly string[],
  defaultStorage: () => 'local' | 's3' = () => 'local',
): (config: unknown) => WorkspaceConfig {
  const problem = `config.storage.provider must be one of: ${storages.join(', ')}`;
  const provider = z.enum(['local', 's3'], problem).refine((name) => storages.includes(name), problem);
  const storage = WorkspaceConfigInput.shape.storage.unwrap().extend({ provider: provider.prefault(defaultStorage) });
  const Config = WorkspaceConfigInput.extend({ storage: storage.prefault({}) });
  const Body = z.object({ config: Config });
  return (config) => {
    const parsed = parseRequestBody(Body, { config }).config;
    if (parsed.storage.provider === 's3') checkBucket(parsed.storage);
    return toConfig(parsed);
  };
}

/**
 * Settings that choose a bucket. Managed storage uses the server's own bucket and credentials, and takes none of them.
 */
const ofOwnBucket = ['bucket', 'region', 'endpoint', 'forcePathStyle', 'prefix'] as const;

function checkBucket(storage: z.output<typeof WorkspaceStorage>): void {
  const { type = 'managed' } = storage.auth ?? {};
  if (type === 'assumeRole') {
    throw refuse('auth.type', 'must be managed or secret: this server has no way to assume a role');
  }
  if (type === 'secret' && storage.bucket === undefined) throw refuse('bucket', 'must be a non-empty string');
  const extra = type === 'managed' ? ofOwnBucket.find((setting) => storage[setting] !== undefined) : undefined;
  if (extra === undefined) return;
  throw refuse(
    extra,
    "must be left out: managed storage is the server's own bucket. For another, set auth.type to secret",
  );
}

function refuse(setting: string, problem: string): AppError {
  return invalidArgument(`config.storage.${setting} ${problem}`, `config.storage.${setting}`);
}

function toConfig({ storage, isolation, ...rest }: z.output<typeof WorkspaceConfigInput>): WorkspaceConfig {
  // Drops S3 settings, which mean nothing for a local directory.
  const used = storage.provider === 'local' ? { provider: storage.provider } : storage;
  return { ...rest, storage: used, ...(isolation && { isolation }) };
}
