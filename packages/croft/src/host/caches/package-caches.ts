import { join } from 'node:path';
import type { SandboxSpec } from '../../core/commands/sandbox.ts';
import { pathResolvesThrough } from '../../lib/files/path-resolves-through.ts';
import { canReach, type Owner } from '../../lib/files/workspace-owner.ts';
import { hostCachesPath } from '../sandbox-paths.ts';
import type { HostFileMount } from '../toolchains/certificates.ts';
import { listCargoCaches } from './cargo-caches.ts';
import { listGemCaches, namedGems } from './gem-caches.ts';
import { absolutePathIn, type HostCache, type HostCacheOptions, isDirectory, npmCacheOf } from './host-cache.ts';
import { listUvCaches } from './uv-caches.ts';
import { listWheelDirectories } from './wheel-directories.ts';

function listCaches(options: HostCacheOptions): HostCache[] {
  const { home, variables } = options;
  const gradle = absolutePathIn(variables, 'GRADLE_USER_HOME') ?? join(home, '.gradle');
  const goPath = variables?.GOPATH?.split(':').find((entry) => entry.startsWith('/')) ?? join(home, 'go');
  return [
    // npm's index can hold tokens; it is sent separately without them: `npm-index.ts`.
    { name: 'npm/content-v2', source: join(npmCacheOf(options), 'content-v2') },
    // Modules that git fetched are left out, because they record their URLs.
    { name: 'go', source: join(absolutePathIn(variables, 'GOMODCACHE') ?? join(goPath, 'pkg/mod'), 'cache/download') },
    { name: 'maven', source: join(home, '.m2/repository') },
    { name: 'gradle/modules-2', source: join(gradle, 'caches/modules-2') },
    { name: 'gradle-wrapper', source: join(gradle, 'wrapper/dists') },
    ...listComposerCaches(options),
    ...listCargoCaches(options),
    ...listGemCaches(options),
    ...listUvCaches(options),
    ...listWheelDirectories(options),
  ];
}

/** Returns the first existing cache directory of composer. Its git clones beside `files` and `repo` are left out. */
function listComposerCaches({ home, variables }: HostCacheOptions): HostCache[] {
  const ownHome = absolutePathIn(variables, 'COMPOSER_HOME');
  const named = absolutePathIn(variables, 'COMPOSER_CACHE_DIR') ?? (ownHome && join(ownHome, 'cache'));
  const usual = [
    join(absolutePathIn(variables, 'XDG_CACHE_HOME') ?? join(home, '.cache'), 'composer'),
    join(home, '.composer/cache'),
  ];
  const cache = (named === undefined ? usual : [named]).find(isDirectory);
  return cache === undefined
    ? []
    : ['files', 'repo'].map((part) => ({ name: `composer/${part}`, source: join(cache, part) }));
}

/** Finds the operator's package caches that the owner can reach, with their read-only paths in the sandbox. */
export function findPackageCaches(
  options: HostCacheOptions,
  owner: Owner | undefined,
  workspace: string,
): HostFileMount[] {
  return listCaches(options)
    .filter(({ source }) => isDirectory(source) && (!owner || canReach(source, owner)))
    .filter(({ source }) => !pathResolvesThrough(source, workspace))
    .map(({ name, source }) => ({ source, target: join(hostCachesPath, name) }));
}

/** Returns variables for package managers that can use a second cache themselves. */
export function packageCacheVariables(
  caches: readonly HostFileMount[],
  environment: Readonly<Record<string, string>>,
  { mode }: SandboxSpec['network'],
): Record<string, string> {
  const has = (name: string) => caches.some(({ target }) => target === join(hostCachesPath, name));
  const below = (name: string) =>
    caches.map(({ target }) => target).filter((target) => target.startsWith(`${hostCachesPath}/${name}/`));
  // With a network and no configured proxy, Go uses its built-in default, so GOPROXY stays unset.
  const proxies = environment.GOPROXY ?? (mode === 'deny-all' ? 'direct' : undefined);
  return {
    ...(has('go') && proxies !== undefined && { GOPROXY: `file://${join(hostCachesPath, 'go')},${proxies}` }),
    // Go does not ask proxies, which may be public, for private modules. Without a network no public proxy can be
    // asked.
    ...(has('go') && mode === 'deny-all' && { GONOPROXY: 'none' }),
    ...(has('gradle/modules-2') && { GRADLE_RO_DEP_CACHE: join(hostCachesPath, 'gradle') }),
    ...(below('wheels').length > 0 && { PIP_FIND_LINKS: below('wheels').join(' ') }),
    // The trailing colon stands for Ruby's default directories.
    ...(has(`${namedGems}/specifications`) && { GEM_PATH: `${join(hostCachesPath, namedGems)}:` }),
  };
}
