import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Provider, Sandbox, SandboxSpec } from '../../core/commands/sandbox.ts';
import { createDenials, createGroupReader, type Denials, outOfMemory, refusedCall } from '../../host/denials.ts';
import { openEgress } from '../../host/egress.ts';
import { toEnvironment, toRlimits } from '../../host/environment.ts';
import { createEtc } from '../../host/etc.ts';
import { initPath, proxyPath } from '../../host/places.ts';
import { findToolchains, type Toolchains, withinReach } from '../../host/toolchains.ts';
import { createWatchdogs, type Watchdog, type Watchdogs } from '../../host/watchdog.ts';
import { createInitFinder } from '../../init/binary.ts';
import { connectInit } from '../../init/client.ts';
import { sharedSpawner } from '../../init/shared-spawner.ts';
import type { Spawned, Spawner } from '../../init/spawner.ts';
import { findGroups, type Group } from '../../lib/cgroup/cgroup.ts';
import { findProgram } from '../../lib/find-program.ts';
import { createRecent } from '../../lib/recent.ts';
import { createSlots } from '../../lib/slots.ts';
import { findHidden, type Owner, ownerOf } from '../../lib/workspace-owner.ts';
import { toEntry } from './entry.ts';
import { toFence } from './fence.ts';
import { createLauncher, endWith, type Launcher, unavailable } from './launch.ts';

export interface BubblewrapOptions {
  /** The operator's own, to find toolchains by. */
  readonly path: string;
  readonly home: string;
}

/** Longer than the kernel ever takes to end a namespace that nothing holds. */
const goneWithinMs = 5000;

/**
 * Those that begin together keep each other, and us, from getting on: so many are enough to have no processor wait.
 */
const startingAtOnce = 4 * availableParallelism();

/** What a sandbox is made of, so that a test can take one away and see what it held. */
export interface BubblewrapParts {
  readonly findInit: () => string;
  readonly toFence: typeof toFence;
  readonly groups: ReturnType<typeof findGroups>;
  readonly watchdogs?: Watchdogs;
  readonly spawner?: Spawner;
}

const wholeParts = (): BubblewrapParts => ({ findInit: createInitFinder(), toFence, groups: findGroups() });

/** Sandboxes on this machine by Linux namespaces, each with a small init that starts commands in it. */
export function createBubblewrap({ path, home: operatorHome }: BubblewrapOptions, parts = wholeParts()): Provider {
  const allToolchains = findToolchains(path, operatorHome);
  const { groups, watchdogs = createWatchdogs(), spawner = sharedSpawner } = parts;
  const launch = createLauncher(spawner);
  const findEtc = createEtc();
  const starting = createSlots(startingAtOnce);
  const [recentEtc, recentToolchains] = [createRecent<string | undefined>(), createRecent<Toolchains>()];
  return {
    name: 'bubblewrap',
    async open(spec) {
      const program = findProgram('bwrap');
      if (!program) throw unavailable('bubblewrap (bwrap) is not installed');
      const owner = ownerOf(spec.directory);
      const toolchains = recentToolchains(() => withinReach(allToolchains, owner), `${owner?.uid}:${owner?.gid}`);
      mustReach(spec.readable, owner);
      const fence = (proxySocket?: string) =>
        parts.toFence({ spec, toolchains, init: parts.findInit(), proxySocket, etc: recentEtc(findEtc) });
      const resources = new AsyncDisposableStack();
      try {
        const options = { program, fence, spec, owner, groups, launch, resources };
        return await finish({ ...options, toolchains, watchdogs }, await starting.run(() => begin(options)));
      } catch (thrown) {
        await resources.disposeAsync();
        throw thrown;
      }
    },
  };
}

interface BeginOptions {
  readonly program: string;
  readonly fence: (proxySocket?: string) => readonly string[];
  readonly spec: SandboxSpec;
  readonly owner: Owner | undefined;
  readonly groups: BubblewrapParts['groups'];
  readonly launch: Launcher;
  /** What goes with the sandbox. */
  readonly resources: AsyncDisposableStack;
}

type Begun = Awaited<ReturnType<typeof begin>>;

/** Until there is a process, with limits on it. */
async function begin({ program, fence, spec, owner, groups, launch, resources }: BeginOptions) {
  const group = 'create' in groups ? groups.create(`sandbox-${randomUUID()}`, spec.limits) : undefined;
  resources.defer(() => group?.remove());
  const denials = createDenials();
  const egress = await openEgress({ policy: spec.network, owner, onDenied: denials.add });
  if (egress) resources.use(egress);

  const entry = toEntry(group);
  const inside = [initPath, spec.workspacePath, String(entry.doors.length), ...(egress ? [proxyPath] : [])];
  const words = [...fence(egress?.socketPath), '--', ...inside];
  const launched = await launch({ program, entry, words, owner, directory: spec.directory });
  return { group, denials, egress, ...launched };
}

interface FinishOptions extends Pick<BeginOptions, 'spec' | 'resources'> {
  readonly toolchains: Toolchains;
  readonly watchdogs: Watchdogs;
}

/** Until it takes commands. How long that takes is a matter of what is in the workspace. */
async function finish(options: FinishOptions, { group, denials, egress, spawned, pid }: Begun): Promise<Sandbox> {
  const { spec, toolchains, watchdogs, resources } = options;
  try {
    const watchdog = watchdogs.start({
      pid,
      limits: spec.limits,
      directories: [
        `/proc/self/fd/${spec.directory}`,
        ...(spec.cacheDirectory === undefined ? [] : [spec.cacheDirectory]),
      ],
      hasGroup: group !== undefined,
      endSandbox: spawned.kill,
    });
    resources.defer(() => watchdog.stop());
    const init = await connectInit({
      socket: spawned.socket,
      workspacePath: spec.workspacePath,
      environment: { ...toEnvironment(toolchains, spec), ...egress?.environment },
      limits: toRlimits(spec.limits, group !== undefined),
      onRefused: (call) => denials.add(refusedCall(call)),
      explainEnd: () => (hasKilled(group) ? outOfMemory(spec.limits) : undefined),
    });
    await egress?.forgetName();
    return toSandbox({ spec, init, spawned, group, watchdog, denials, resources });
  } catch (cause) {
    return endWith(spawned, cause);
  }
}

function hasKilled(group: Group | undefined): boolean {
  try {
    return group !== undefined && group.refusals().memoryKills > 0;
  } catch {
    // Gone with its sandbox.
    return false;
  }
}

function mustReach(readable: readonly string[], owner: Owner | undefined): void {
  const hidden = findHidden(readable, owner);
  if (hidden !== undefined)
    throw unavailable(`${hidden} was to be readable, but the owner of the workspace cannot reach it`);
}

interface SandboxParts extends Pick<BeginOptions, 'spec' | 'resources'> {
  readonly group: Group | undefined;
  readonly init: Awaited<ReturnType<typeof connectInit>>;
  readonly spawned: Spawned;
  readonly watchdog: Watchdog;
  readonly denials: Denials;
}

function toSandbox({ spec, init, spawned, group, watchdog, denials, resources }: SandboxParts): Sandbox {
  const closed = spawned.gone.then(() => resources.disposeAsync());
  const readGroup = group ? createGroupReader(group, spec.limits) : () => [];
  return {
    name: 'bubblewrap',
    workspacePath: spec.workspacePath,
    network: spec.network.mode,
    limits: spec.limits,
    start: (command) => watchdog.watch(init.start(command)),
    takeDenials: () => [...readGroup(), ...watchdog.takeDenials(), ...denials.take()],
    async close() {
      init.close();
      const timer = setTimeout(spawned.kill, goneWithinMs);
      await spawned.gone;
      clearTimeout(timer);
      await closed;
    },
    closed,
  };
}
