import { accessSync, constants, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { errorMessage } from '../../lib/error-message.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { isDataInWorkspace, type ProtectedDirectories } from './readable-directories.ts';

/**
 * Creates the data directory if it is missing, and returns its absolute path. Reports one that cannot be used before
 * anything else starts.
 */
export function useDataDirectory(wanted: string): string {
  const data = resolve(wanted);
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
    return data;
  } catch (thrown) {
    const reason = errorMessage(thrown);
    throw new UsageError(`the data directory cannot be used: ${reason}; choose another with --data DIR or CROFT_DATA`);
  }
}

/**
 * Warns about a data directory inside a workspace, and throws if it holds keys: an agent that reads the keys can sign
 * in anywhere and approve its own calls.
 */
export function describeOpenData(protectedDirectories: ProtectedDirectories, hasKeys: boolean): string[] {
  if (!isDataInWorkspace(protectedDirectories)) return [];
  const open = `the data directory ${protectedDirectories.data} is inside a workspace, where an agent can read and change what is kept there`;
  if (!hasKeys) return [`${open}, so that calls have no audit trail; choose another with CROFT_DATA`];
  throw new UsageError(
    `${open}, keys included: choose another with CROFT_DATA or, for serve, --data DIR; or start croft in the directory of a project, or name it with --workspace DIR`,
  );
}
