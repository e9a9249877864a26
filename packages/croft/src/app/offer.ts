import type { CodeMode } from '../core/code/ports/language-servers.ts';
import { lowerLimits } from '../core/commands/lower-limits.ts';
import type { Provider } from '../core/commands/sandbox.ts';
import type { RunnerWorkspaces, WorkspaceRequest } from '../core/runner-workspaces/runner-workspace.ts';
import type { WorkspaceMount } from '../core/storage/workspace-mount.ts';
import { createKeyedLock } from '../lib/concurrency/keyed-lock.ts';
import type { Peer } from '../link/calls/peer.ts';
import { createServerBucket } from '../providers/index.ts';
import { createDataDirectory, openMounts, type WorkspaceSource } from '../storages/index.ts';
import type { HostOptions, SandboxOptions } from './app.ts';
import { createOverlays, type Overlays, toLocalForks } from './forks/overlays.ts';
import { createBucketWorkspaces } from './offer/bucket-workspaces.ts';
import { createWorkspaceOpener } from './offer/open-workspace.ts';
import { createRunnerWorkspaceRemoval } from './offer/remove-workspace.ts';
import { createSandboxCapacity } from './offer/sandbox-capacity.ts';
import { openCodeIndexes } from './workspaces/code-indexes-of-workspaces.ts';
import { openCodeParts } from './workspaces/language-servers-of-workspaces.ts';
import { openProvider } from './workspaces/open-provider.ts';
import { probeProvider } from './workspaces/probe-provider.ts';
import { createSearchBoxPool } from './workspaces/search-box-pool.ts';
import {
  createWorkspaceHistories,
  type HistoryLimits,
  type WorkspaceHistories,
} from './workspaces/workspace-histories.ts';

interface RunnerOfferOptions {
  /** Directories of this machine, each under the name that the account has for the workspace. */
  readonly workspaces: readonly WorkspaceSource[];
  /** The directory for new workspaces. Without it, only the workspaces in `workspaces` can be opened. */
  readonly root?: string | undefined;
  /** The directory of histories and layers. */
  readonly data: string;
  /** Limits of each workspace's history. Default: `defaultHistoryLimits`. */
  readonly historyLimits?: HistoryLimits | undefined;
  /** Upper limits of every sandbox, whatever a server asks for. */
  readonly sandbox: SandboxOptions;
  readonly host: HostOptions;
  readonly isReadOnly: boolean;
  /** As in `AppOptions`. A server cannot ask for more. */
  readonly code?: CodeMode | undefined;
  /** Sandboxes open at once, on all links together. Default: no limit. */
  readonly capacity?: number | undefined;
  onWarning(message: string): void;
}

const hourMs = 3_600_000;

/**
 * Composition root of a runner: everything that this machine serves to a server, built from the same parts that a
 * server uses for itself. Runs on the runner.
 */
export function createRunnerOffer(options: RunnerOfferOptions) {
  const { workspaces, data, sandbox, isReadOnly, onWarning } = options;
  const { historyLimits: limits } = options;
  const histories = createWorkspaceHistories({ data, allowControl: sandbox.allowControl, limits, onWarning });
  const layered = createOverlays(data, histories, onWarning);
  const searches = createSearchBoxPool();
  const capacity = createSandboxCapacity(options.capacity);
  const provider = openProvider(options);
  const { code: mode = isReadOnly ? 'safe' : 'full' } = options;
  const { codeServers, syntax } = openCodeParts({
    ...{ mode, readable: sandbox.readable, emit() {} },
    provider: withinPolicy(provider, sandbox, capacity.counted),
  });
  const codeIndexes = openCodeIndexes({ data, syntax, onWarning });
  const [named, made] = [openNamed(options), openRootWorkspaces(options, histories, layered)];
  const lock = createKeyedLock();
  const { open, forget } = createWorkspaceOpener(
    { named, ...made, lock, histories },
    {
      ...{ provider, policy: { ...sandbox, isReadOnly }, readable: sandbox.readable },
      ...{ searches, codeServers, codeIndexes, layered, counted: capacity.counted },
    },
  );
  const remove = createRunnerWorkspaceRemoval({
    ...{ named, made, histories, layered, isReadOnly, lock, forget },
    async removeCode(key) {
      await Promise.all([codeServers.closeOf(key), codeIndexes.remove(key)]);
    },
  });
  const timer = setInterval(() => made?.localWorkspaces.closeRemoved(), hourMs).unref();
  return {
    ...{ open: (wish: WorkspaceRequest) => open(wish), remove },
    /** The same workspaces over a link. The link also reaches the server's buckets. */
    on: (peer: Peer): RunnerWorkspaces => ({
      remove,
      open: (wish) => open(wish, (id) => createServerBucket(peer, id)),
    }),
    names: workspaces.map(({ name, path }) => name ?? path),
    /** Throws `E_SANDBOX_UNAVAILABLE` if the machine cannot open a sandbox. */
    probe: () => probeProvider(provider, data, sandbox.limits),
    /** The number of open sandboxes. */
    load: capacity.taken,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.all([codeServers.close(), codeIndexes.closeAll()]);
      await searches.close();
      await made?.buckets.close();
      await histories.close();
      made?.localWorkspaces.close();
    },
  };
}

/** The sandbox of a language server counts like any other, and has no more than the operator allows. */
function withinPolicy(
  provider: Provider,
  { limits }: Pick<SandboxOptions, 'limits'>,
  counted: ReturnType<typeof createSandboxCapacity>['counted'],
): Provider {
  const lower = (spec: Parameters<Provider['open']>[0]) => ({ ...spec, limits: lowerLimits(limits, spec.limits) });
  return { ...provider, open: (spec) => counted(() => provider.open(lower(spec))) };
}

/** Opens the directory for new workspaces, if there is one. */
function openRootWorkspaces(
  { root, sandbox, isReadOnly, onWarning }: RunnerOfferOptions,
  histories: WorkspaceHistories,
  layered: Overlays,
) {
  if (root === undefined) return undefined;
  const access = isReadOnly ? 'read-only' : 'read-write';
  return {
    localWorkspaces: createDataDirectory(root, toLocalForks(layered), sandbox.caches),
    buckets: createBucketWorkspaces({ root, histories, access, onWarning }),
  };
}

/** Agents see a workspace under its path in the sandbox. Without isolation, they see its real path. */
function openNamed({ workspaces, sandbox }: RunnerOfferOptions): ReadonlyMap<string, WorkspaceMount> {
  if (workspaces.length === 0) return new Map();
  const sources = workspaces.map((source) =>
    sandbox.provider === 'none' ? source : { ...source, root: `/workspaces/${source.name}` },
  );
  return new Map(openMounts(sources).map((mount) => [mount.name, mount]));
}
