import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface HostCacheOptions {
  readonly home: string;
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A directory of this machine that holds packages and no credentials. Sandboxes see it, but nothing beside it. */
export interface HostCache {
  /** Path below `hostCachesPath` in the sandbox. */
  readonly name: string;
  readonly source: string;
}

/**
 * Returns the value of the first variable that holds an absolute path. Relative values are ignored, because programs
 * would resolve them from their own directory.
 */
export function absolutePathIn(
  variables: HostCacheOptions['variables'],
  ...names: readonly string[]
): string | undefined {
  return names.map((name) => variables?.[name]).find((value) => value?.startsWith('/'));
}

/** Returns npm's cache directory: `content-v2` holds packages, `index-v5` says which is which. */
export function npmCacheOf({ home, variables }: HostCacheOptions): string {
  return join(absolutePathIn(variables, 'npm_config_cache', 'NPM_CONFIG_CACHE') ?? join(home, '.npm'), '_cacache');
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Returns the directories in a directory, without links. Empty if it cannot be read. */
export function listDirectories(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}
