import { accessSync, constants, mkdirSync } from 'node:fs';
import { UsageError } from '../lib/usage-error.ts';

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
