import { readlinkSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@croft/protocol';
import { runCommand, startCommand } from '../core/commands/run-command.ts';
import type { Provider, Sandbox, SandboxSpec } from '../core/commands/sandbox.ts';
import { npmIndexRequest, toCacheSeedScript, unpackNpmIndex } from '../host/caches/cache-seed-script.ts';
import type { HostCacheOptions } from '../host/caches/host-cache.ts';
import { mayUseCaches } from '../host/caches/may-use-caches.ts';
import { findNpmIndex, readNpmIndex } from '../host/caches/npm-index.ts';
import { errorMessage } from '../lib/error-message.ts';
import {
  cacheDirectoryFor,
  ForeignEntryError,
  makeCacheDirectory,
  makeCachesDirectory,
} from '../lib/files/cache-directory.ts';
import { canReach, ownerOf } from '../lib/files/workspace-owner.ts';

interface CacheOptions {
  /** The directory that contains the caches of all workspaces. */
  readonly caches: string;
  /** The person whose own caches are used too. */
  readonly host: HostCacheOptions;
  onWarning(message: string): void;
}

/**
 * Keeps the package caches of each workspace from one of its sandboxes to the next, and apart from every other
 * workspace.
 */
export function withCaches(provider: Provider, { caches, host, onWarning }: CacheOptions): Provider {
  let isWarned = false;
  return {
    name: provider.name,
    async open(spec) {
      // Such a sandbox installs nothing, and must not fill the caches that other commands use.
      if (spec.isReadOnly) return provider.open(spec);
      const cacheDirectory = findOrWarn(spec);
      const sandbox = await provider.open({ ...spec, cacheDirectory });
      return cacheDirectory !== undefined && spec.personal ? withSeeds(sandbox, spec, host) : sandbox;
    },
  };

  function findOrWarn({ directoryFd }: SandboxSpec): string | undefined {
    try {
      return findCache(caches, directoryFd);
    } catch (cause) {
      const reason = errorMessage(cause);
      if (cause instanceof ForeignEntryError)
        throw new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: provider.name }, cause });
      if (!isWarned) onWarning(`package caches are not kept: ${reason}`);
      isWarned = true;
      return undefined;
    }
  }
}

/** Makes the cache on first use. Returns `undefined` if the user that commands run as cannot reach it. */
function findCache(caches: string, directoryFd: number): string | undefined {
  const owner = ownerOf(directoryFd);
  makeCachesDirectory(caches);
  if (owner && !canReach(caches, owner)) return undefined;
  const path = cacheDirectoryFor(caches, readlinkSync(`/proc/self/fd/${directoryFd}`));
  makeCacheDirectory(path, owner);
  return path;
}

const seedMs = 60_000;

/**
 * Fills the caches from the person's own while the first commands run. That can take seconds, so that only a command
 * that may need packages waits for it. Packages that are not there are fetched as usual.
 */
function withSeeds(sandbox: Sandbox, { directoryFd }: SandboxSpec, host: HostCacheOptions): Sandbox {
  const script = toCacheSeedScript(directoryFd);
  if (script === undefined) return sandbox;
  const filled = seedCaches(sandbox, script, () => findNpmIndex(host, directoryFd));
  return {
    ...sandbox,
    ready: (command) => (mayUseCaches(command) ? unlessAborted(command.signal, filled) : Promise.resolve()),
  };
}

async function unlessAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  await Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

/** Never throws. */
async function seedCaches(sandbox: Sandbox, script: string, findIndex: () => string | undefined): Promise<void> {
  const signal = AbortSignal.timeout(seedMs);
  try {
    const { stdout } = await runCommand(sandbox, { argv: ['bash', '-c', script], timeoutMs: seedMs, signal });
    const index = stdout.includes(npmIndexRequest) ? findIndex() : undefined;
    if (index !== undefined) await sendNpmIndex(sandbox, index, signal);
  } catch {
    // The sandbox ended, or the time was over.
  }
}

async function sendNpmIndex(sandbox: Sandbox, index: string, signal: AbortSignal): Promise<void> {
  const { running, ended } = startCommand(sandbox, { argv: ['bash', '-c', unpackNpmIndex], hasInput: true, signal });
  await pipeline(readNpmIndex(index), running.stdin, { signal });
  await ended;
}
