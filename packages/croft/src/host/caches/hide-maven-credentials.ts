import { once } from 'node:events';
import { join } from 'node:path';
import { findProgram } from '../../lib/processes/find-program.ts';
import { killProcessGroup, spawnProgram } from '../../lib/processes/spawn.ts';
import { hostCachesPath } from '../sandbox-paths.ts';
import type { HostFileMount } from '../toolchains/certificates.ts';

const searchesWithinMs = 5000;
const maxChars = 64 * 1024;
const notes = ['*.lastUpdated', 'resolver-status.properties', '_remote.repositories'];
const repositoryPath = join(hostCachesPath, 'maven');

/**
 * Hides Maven's note files that contain a password: beside each package Maven records which URLs did not have it, with
 * the credentials of the settings. Each such file is covered by an empty one. The whole repository is hidden if these
 * files cannot all be found in time.
 */
export async function hideMavenCredentials(
  caches: readonly HostFileMount[],
  empty: () => string,
): Promise<readonly HostFileMount[]> {
  const repository = caches.find(({ target }) => target === repositoryPath);
  if (!repository) return caches;
  const found = await findNotes(repository.source);
  if (!found) return caches.filter((cache) => cache !== repository);
  const covers = found.map((note) => ({ source: empty(), target: join(repositoryPath, note) }));
  return [...caches, ...covers];
}

/** Returns paths below the repository, or `undefined` if not all of them could be found in time. */
async function findNotes(repository: string): Promise<string[] | undefined> {
  const grep = findProgram('grep');
  if (!grep) return undefined;
  const chosen = notes.map((pattern) => `--include=${pattern}`);
  const argv = [grep, '-rlZE', ...chosen, '-e', '//[^/[:space:]]*@', '--', repository] as const;
  const child = spawnProgram(argv, { env: { LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'close').catch(() => [undefined]);
  const timer = setTimeout(() => killProcessGroup(child), searchesWithinMs);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
    if (output.length > maxChars) killProcessGroup(child);
  });
  const [code] = await ended;
  clearTimeout(timer);
  // grep exits with 1 if nothing was found.
  if (code !== 0 && code !== 1) return undefined;
  return output.split('\0').flatMap((path) => (path === '' ? [] : [path.slice(repository.length + 1)]));
}
