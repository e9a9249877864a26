import type { SandboxSpec } from '../../core/commands/sandbox.ts';
import { type Owner, realpathOrSelf } from '../../lib/files/workspace-owner.ts';
import { keepUsedCaches } from '../caches/cache-seed-script.ts';
import { hideMavenCredentials } from '../caches/hide-maven-credentials.ts';
import { findPackageCaches, packageCacheVariables } from '../caches/package-caches.ts';
import type { HostTools, HostToolsOptions } from '../toolchains/host-tools.ts';
import { dropPathsThroughWorkspace } from './drop-paths-through-workspace.ts';
import { createGitIdentity, identityVariables } from './git-identity.ts';
import { createMountableTextFiles } from './mountable-text-files.ts';
import { findRegistrySettings } from './registry-settings.ts';

/**
 * Adds what belongs to the operator, for workspaces that get personal settings: git identity, package registries and
 * package caches.
 */
export function createPersonalSettingsAdder(options: HostToolsOptions) {
  const findGitSettings = createGitIdentity(options);
  const keep = createMountableTextFiles('settings');
  return async (tools: HostTools, spec: SandboxSpec, owner: Owner | undefined): Promise<HostTools> => {
    const { directoryFd, personal, network } = spec;
    const workspace = realpathOrSelf(`/proc/self/fd/${directoryFd}`);
    if (!personal) return dropPathsThroughWorkspace(tools, workspace);
    const gitSettings = await findGitSettings(directoryFd, personal);
    const registries = findRegistrySettings(options);
    const used = keepUsedCaches(findPackageCaches(options, owner, workspace), directoryFd);
    const caches = await hideMavenCredentials(used, () => keep(''));
    const all = {
      ...tools,
      environment: {
        ...tools.environment,
        ...registries.environment,
        ...packageCacheVariables(caches, registries.environment, network),
        ...identityVariables(personal, options.variables),
      },
      files: [
        ...tools.files,
        ...registries.files.map(({ content, target }) => ({ source: keep(content), target })),
        ...caches,
        ...(gitSettings ? [gitSettings] : []),
      ],
    };
    return dropPathsThroughWorkspace(all, workspace);
  };
}
