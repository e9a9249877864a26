import { WorkspaceConfigInput } from '@croft/protocol';
import { z } from 'zod';
import { parseBody } from './parse-body.ts';
import type { WorkspaceConfig } from './registry.ts';

/** Reads a workspace's config, written by a caller or stored. What it gives reads as itself. */
export function createWorkspaceParser(storages: readonly string[]): (config: unknown) => WorkspaceConfig {
  const problem = `config.storage.provider must be one of: ${storages.join(', ')}`;
  const provider = z.enum(['local', 's3'], problem).refine((name) => storages.includes(name), problem);
  const storage = WorkspaceConfigInput.shape.storage.unwrap().extend({ provider: provider.prefault('local') });
  const Config = WorkspaceConfigInput.extend({ storage: storage.prefault({}) });
  const Body = z.object({ config: Config });
  return (config) => toConfig(parseBody(Body, { config }).config);
}

function toConfig({ storage, isolation, ...rest }: z.output<typeof WorkspaceConfigInput>): WorkspaceConfig {
  // Settings of S3 mean nothing to a directory.
  const kept = storage.provider === 'local' ? { provider: storage.provider } : storage;
  return { ...rest, storage: kept, ...(isolation && { isolation }) };
}
