import { accessSync, constants, mkdirSync } from 'node:fs';
import { UsageError } from '../lib/usage-error.ts';
import { isDataOpen, type KeptDirectories } from './readable.ts';

/** Made if it is not there. One that cannot be used is said before anything is asked of it. */
export function useDataDirectory(data: string): string {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
    return data;
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : thrown;
    throw new UsageError(`the data directory cannot be used: ${reason}; choose another with --data DIR or CROFT_DATA`);
  }
}

/** Who can read its keys can let themselves in anywhere, and agree to their own calls: then it must be outside. */
export function describeOpenData(kept: KeptDirectories, hasKeys: boolean): string[] {
  if (!isDataOpen(kept)) return [];
  const open = `the data directory ${kept.data} is inside a workspace, where an agent can read and change what is kept there`;
  if (!hasKeys) return [`${open}; choose another with CROFT_DATA`];
  throw new UsageError(`${open}, keys included: choose another with CROFT_DATA or, for serve, --data DIR`);
}
