import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { AppError } from '@croft/protocol';
import type { Provider, Sandbox, SandboxSpec } from '../../core/commands/sandbox.ts';
import {
  controlFileReplacedReason,
  createDenialLog,
  createGroupDenialReader,
  type DenialLog,
  outOfMemoryReason,
  toInitDenial,
  toSystemCallDenial,
} from '../../host/denial-log.ts';
import { openEgress } from '../../host/egress.ts';
import { createEtcCopy } from '../../host/etc-copy.ts';
import { createWatchdogs, type Watchdog, type Watchdogs } from '../../host/limits/watchdog.ts';
import { createPersonalSettingsAdder } from '../../host/personal/add-personal-settings.ts';
import { toRlimits, toSandboxEnvironment } from '../../host/sandbox-environment.ts';
import { initPath, noNetwork, proxyPath, temporaryPath } from '../../host/sandbox-paths.ts';
import { createHostTools, type HostTools, type HostToolsOptions } from '../../host/toolchains/host-tools.ts';
import { connectInit } from '../../init/connect-init.ts';
import { findInit } from '../../init/find-init.ts';
import { sharedSpawner } from '../../init/shared-spawner.ts';
import type { Spawned, Spawner } from '../../init/spawner.ts';
import { findGroups, type Group } from '../../lib/cgroup/find-groups.ts';
import { pauseGroup } from '../../lib/cgroup/pause-group.ts';
import { createConcurrencyLimit } from '../../lib/concurrency/concurrency-limit.ts';
import { createShortLivedCache } from '../../lib/concurrency/short-lived-cache.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { UnsafeDirectoryError } from '../../lib/files/temporary-base.ts';
import { findUnreachable, type Owner, ownerOf } from '../../lib/files/workspace-owner.ts';
import { findProgram } from '../../lib/processes/find-program.ts';
import { toBwrapArguments } from './bwrap-arguments.ts';
import { toCgroupEntry } from './cgroup-entry.ts';
import { createLauncher, endWith, type Launcher, unavailable } from './launcher.ts';

/** Longer than the kernel ever takes to end a namespace that nothing keeps alive. */
const goneWithinMs = 5000;

/**
 * Sandboxes that start together slow each other and this process down. This many are enough to keep every processor
 * busy.
 */
const startingAtOnce = 4 * availableParallelism();

/** The parts of a sandbox. Tests replace one to see what it guards. */
interface BubblewrapParts {
  readonly findInit: () => string;
  readonly toArguments: typeof toBwrapArguments;
  readonly groups: ReturnType<typeof findGroups>;
  readonly watchdogs?: Watchdogs;
  readonly spawner?: Spawner;
}

const wholeParts = (): BubblewrapParts => ({
  findInit,
  toArguments: toBwrapArguments,
  groups: findGroups(),
});

/** Opens sandboxes on this machine with Linux namespaces. Each has a small init that starts its commands. */
export function createBubblewrap(options: HostToolsOptions, parts = wholeParts()): Provider {
  const [findTools, personalize] = [createHostTools(options), createPersonalSettingsAdder(options)];
  const { groups, watchdogs = createWatchdogs(), spawner = sharedSpawner } = parts;
  const launch = createLauncher(spawner);
  const findEtc = createEtcCopy();
  const starting = createConcurrencyLimit(startingAtOnce);
  const [recentEtc, recentTools] = [createShortLivedCache<string | undefined>(), createShortLivedCache<HostTools>()];
  return {
    name: 'bubblewrap',
    async open(spec) {
      const program = findProgram('bwrap');
      if (!program) throw unavailable('bubblewrap (bwrap) is not installed');
      // The spawner starts while the other facts about this sandbox are looked up.
      spawner.open();
      const resources = new AsyncDisposableStack();
      try {
        const owner = ownerOf(spec.directoryFd);
        const key = `${owner?.uid}:${owner?.gid}:${spec.readable}`;
        const shared = recentTools(() => findTools(spec.readable, owner), key);
        mustReach(spec.readable, owner);
        const tools = await personalize(shared, spec, owner);
        const toArguments = (proxySocket?: string) =>
          parts.toArguments({ spec, tools, init: parts.findInit(), proxySocket, etc: recentEtc(findEtc) });
        const chosen = { program, toArguments, spec, owner, groups, launch, resources };
        return await finish({ ...chosen, tools, watchdogs }, await starting.run(() => begin(chosen)));
      } catch (thrown) {
        await resources.disposeAsync();
        throw AppError.is(thrown) ? thrown : unavailable(toReason(thrown), thrown);
      }
    },
  };
}

interface BeginOptions {
  readonly program: string;
  readonly toArguments: (proxySocket?: string) => readonly string[];
  readonly spec: SandboxSpec;
  readonly owner: Owner | undefined;
  readonly groups: BubblewrapParts['groups'];
  readonly launch: Launcher;
  /** Resources to release when the sandbox closes. */
  readonly resources: AsyncDisposableStack;
}

type Begun = Awaited<ReturnType<typeof begin>>;

/** Starts the sandbox's process, with its limits applied. */
async function begin({ program, toArguments, spec, owner, groups, launch, resources }: BeginOptions) {
  const group = 'create' in groups ? groups.create(`sandbox-${randomUUID()}`, spec.limits) : undefined;
  resources.defer(() => group?.remove());
  const denials = createDenialLog();
  const egress = await openEgress({ policy: spec.network, owner, onDenied: denials.add });
  if (egress) resources.use(egress);

  const entry = toCgroupEntry(group);
  const allowed = (spec.allowControl ?? []).join(',');
  const networkArgument = egress ? proxyPath : spec.network.mode === 'deny-all' ? noNetwork : '-';
  const inside = [initPath, spec.workspacePath, String(entry.groupFiles.length), networkArgument, allowed];
  const words = [...toArguments(egress?.socketPath), '--', ...inside];
  const launched = await launch({ program, entry, words, owner, directoryFd: spec.directoryFd });
  return { group, denials, egress, ...launched };
}

interface FinishOptions extends Pick<BeginOptions, 'spec' | 'resources'> {
  readonly tools: HostTools;
  readonly watchdogs: Watchdogs;
}

/** Waits until the sandbox takes commands. The time depends on what is in the workspace. */
async function finish(options: FinishOptions, { group, denials, egress, spawned, pid }: Begun): Promise<Sandbox> {
  const { spec, tools, watchdogs, resources } = options;
  let isReplaced = false;
  try {
    const watchdog = watchdogs.start({
      pid,
      limits: spec.limits,
      directories: [
        `/proc/self/fd/${spec.directoryFd}`,
        ...(spec.cacheDirectory === undefined ? [] : [spec.cacheDirectory]),
      ],
      left: spec.remainingQuota,
      minFreeBytes: spec.minFreeBytes,
      hasGroup: group !== undefined,
      ...{ group, accountId: spec.accountId },
      endSandbox: spawned.kill,
    });
    resources.defer(() => watchdog.stop());
    const init = await connectInit({
      socket: spawned.socket,
      workspacePath: spec.workspacePath,
      environment: { ...toSandboxEnvironment(tools, spec), ...egress?.environment },
      limits: toRlimits(spec.limits, group !== undefined),
      onRefused: (call) => denials.add(toSystemCallDenial(call)),
      onGuardedControlFile: (held) => {
        isReplaced ||= held.rule === 'reopened';
        denials.add(toInitDenial(held));
      },
      explainEnd: () =>
        isReplaced ? controlFileReplacedReason : hasKilledForMemory(group) ? outOfMemoryReason(spec.limits) : undefined,
    });
    egress?.unlinkSocket();
    return toSandbox({ spec, init, spawned, group, watchdog, denials, resources });
  } catch (cause) {
    return endWith(spawned, cause);
  }
}

function hasKilledForMemory(group: Group | undefined): boolean {
  try {
    return group !== undefined && group.refusals().memoryKills > 0;
  } catch {
    // The group was removed with its sandbox.
    return false;
  }
}

/** The host can fail at any step: it may run out of file descriptors, processes or disk space. */
function toReason(thrown: unknown): string {
  if (thrown instanceof UnsafeDirectoryError) return thrown.message;
  return `the sandbox cannot be opened: ${errorMessage(thrown)}`;
}

function mustReach(readable: readonly string[], owner: Owner | undefined): void {
  const hidden = findUnreachable(readable, owner);
  if (hidden !== undefined)
    throw unavailable(`${hidden} was to be readable, but the owner of the workspace cannot reach it`);
}

interface SandboxParts extends Pick<BeginOptions, 'spec' | 'resources'> {
  readonly group: Group | undefined;
  readonly init: Awaited<ReturnType<typeof connectInit>>;
  readonly spawned: Spawned;
  readonly watchdog: Watchdog;
  readonly denials: DenialLog;
}

function toSandbox({ spec, init, spawned, group, watchdog, denials, resources }: SandboxParts): Sandbox {
  const closed = spawned.ended.then(() => resources.disposeAsync());
  const readGroup = group ? createGroupDenialReader(group, spec.limits) : () => [];
  return {
    name: 'bubblewrap',
    workspacePath: spec.workspacePath,
    temporaryPath,
    network: spec.network.mode,
    limits: spec.limits,
    start: (command) => watchdog.watch(init.start(command)),
    ...(group && { suspend: () => pauseGroup(group) }),
    takeDenials: () => [...readGroup(), ...watchdog.takeDenials(), ...denials.take()],
    usage: watchdog.usage,
    async close() {
      init.close();
      const timer = setTimeout(spawned.kill, goneWithinMs);
      await spawned.ended;
      clearTimeout(timer);
      await closed;
    },
    closed,
    ended: init.closed,
  };
}
