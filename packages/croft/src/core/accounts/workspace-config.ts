import { type AppError, WorkspaceConfigInput, type WorkspaceStorage } from '@croft/protocol';
import { z } from 'zod';
import { parseBody } from './parse-body.ts';
import { invalid } from './plain-json.ts';
import type { WorkspaceConfig } from './registry.ts';

/** Reads a workspace's config, written by a caller or stored. What it gives reads as itself. */
export function createWorkspaceParser(storages: readonly string[]): (config: unknown) => WorkspaceConfig {
  const problem = `config.storage.provider must be one of: ${storages.join(', ')}`;
  const provider = z.enum(['local', 's3'], problem).refine((name) => storages.includes(name), problem);
  const storage = WorkspaceConfigInput.shape.storage.unwrap().extend({ provider: provider.prefault('local') });
  const Config = WorkspaceConfigInput.extend({ storage: storage.prefault({}) });
  const Body = z.object({ config: Config });
  return (config) => {
    const parsed = parseBody(Body, { config }).config;
    if (parsed.storage.provider === 's3') checkBucket(parsed.storage);
    return toConfig(parsed);
  };
}

/** Settings that say which bucket. That of managed storage is the server's own, and so are the credentials for it. */
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
  return invalid(`config.storage.${setting} ${problem}`, `config.storage.${setting}`);
}

function toConfig({ storage, isolation, ...rest }: z.output<typeof WorkspaceConfigInput>): WorkspaceConfig {
  // Settings of S3 mean nothing to a directory.
  const kept = storage.provider === 'local' ? { provider: storage.provider } : storage;
  return { ...rest, storage: kept, ...(isolation && { isolation }) };
}
