import { readlinkSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { Provider, SandboxSpec } from '../core/commands/sandbox.ts';
import { cacheAt, ForeignEntryError, makeCache, makeCaches } from '../lib/cache-directory.ts';
import { canReach, ownerOf } from '../lib/workspace-owner.ts';

export interface CacheOptions {
  /** The directory that holds those of all workspaces. */
  readonly caches: string;
  onWarning(message: string): void;
}

/** Keeps the package caches of each workspace from one of its sandboxes to the next, and from every other workspace. */
export function withCaches(provider: Provider, { caches, onWarning }: CacheOptions): Provider {
  let isWarned = false;
  return {
    name: provider.name,
    open: async (spec) => provider.open({ ...spec, cacheDirectory: findOrWarn(spec) }),
  };

  function findOrWarn({ directory }: SandboxSpec): string | undefined {
    try {
      return findCache(caches, directory);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      if (cause instanceof ForeignEntryError)
        throw new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: provider.name }, cause });
      if (!isWarned) onWarning(`package caches are not kept: ${reason}`);
      isWarned = true;
      return undefined;
    }
  }
}

/** Made on first use. `undefined` where commands run as somebody who has no way to it. */
function findCache(caches: string, directory: number): string | undefined {
  const owner = ownerOf(directory);
  makeCaches(caches);
  if (owner && !canReach(caches, owner)) return undefined;
  const path = cacheAt(caches, readlinkSync(`/proc/self/fd/${directory}`));
  makeCache(path, owner);
  return path;
}
