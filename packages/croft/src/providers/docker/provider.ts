import { randomUUID } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Provider, Sandbox, SandboxSpec } from '../../core/commands/sandbox.ts';
import { createDenials, createGroupReader, type Denials, outOfMemory, refusedCall } from '../../host/denials.ts';
import { openEgress } from '../../host/egress.ts';
import { toEnvironment, toRlimits } from '../../host/environment.ts';
import { explainStart } from '../../host/explain-start.ts';
import { findToolchains, withinReach } from '../../host/toolchains.ts';
import { createWatchdogs, type Watchdogs } from '../../host/watchdog.ts';
import { createInitFinder } from '../../init/binary.ts';
import { connectInit, type InitClient } from '../../init/client.ts';
import { observeGroup } from '../../lib/cgroup/cgroup.ts';
import { once } from '../../lib/once.ts';
import { makeOwnDirectory } from '../../lib/own-directory.ts';
import { createSlots } from '../../lib/slots.ts';
import { findHidden, type Owner, ownerOf } from '../../lib/workspace-owner.ts';
import { toContainer } from './container.ts';
import { openDoor } from './door.ts';
import { createEngine, type Engine } from './engine.ts';
import { type ChosenImage, chooseImage } from './image.ts';
import { toMounts } from './mounts.ts';
import { sweepLeftovers } from './sweep.ts';
import { explainEngine, name, unavailable } from './unavailable.ts';

export interface DockerOptions {
  /** The operator's own, to find toolchains by. */
  readonly path: string;
  readonly home: string;
  /** Where the engine listens. Left out: where Docker does. */
  readonly dockerSocket?: string | undefined;
  /** Left out: the programs of this machine, as bubblewrap shows them. */
  readonly image?: string | undefined;
}

const usualSocket = '/var/run/docker.sock';

/** Sandboxes as containers of Docker, or of whatever else speaks its API, each with the same init as every other. */
export function createDocker({ path, home, dockerSocket = usualSocket, image: wanted }: DockerOptions): Provider {
  const engine = createEngine(dockerSocket);
  const allToolchains = findToolchains(path, home);
  const [findInit, watchdogs] = [createInitFinder(), createWatchdogs()];
  const starting = createSlots(2 * availableParallelism());
  const doors = once(async () => makeOwnDirectory('docker'));
  const sweep = once(() => sweepLeftovers(engine));
  return {
    name,
    async open(spec) {
      const owner = ownerOf(spec.directory);
      const hidden = findHidden(spec.readable, owner);
      if (hidden !== undefined)
        throw unavailable(`${hidden} was to be readable, but the owner of the workspace cannot reach it`);
      const resources = new AsyncDisposableStack();
      try {
        await sweep();
        const image = await chooseImage(engine, wanted, withinReach(allToolchains, owner));
        const options = { spec, owner, image, engine, init: findInit(), doors: await doors(), resources };
        return await finish({ ...options, watchdogs }, await starting.run(() => begin(options)));
      } catch (thrown) {
        await resources.disposeAsync();
        throw explainEngine(thrown);
      }
    },
  };
}

interface BeginOptions {
  readonly spec: SandboxSpec;
  readonly owner: Owner | undefined;
  readonly image: ChosenImage;
  readonly engine: Engine;
  readonly init: string;
  /** A directory of this process alone. */
  readonly doors: string;
  /** What goes with the sandbox. */
  readonly resources: AsyncDisposableStack;
}

type Begun = Awaited<ReturnType<typeof begin>>;

/** Until its init has come in. */
async function begin({ spec, owner, image, engine, init, doors, resources }: BeginOptions) {
  const denials = createDenials();
  const egress = await openEgress({ policy: spec.network, owner, onDenied: denials.add });
  if (egress) resources.use(egress);
  const door = await openDoor(doors);
  resources.defer(door.close);
  const toolchains = image.isHost ? image.toolchains : undefined;
  const sockets = { serverSocket: door.path, proxySocket: egress?.socketPath };
  const id = await engine.create(
    `croft-${randomUUID()}`,
    toContainer({
      ...{ spec, image: image.name, user: owner ?? ourselves(), hasProxy: egress !== undefined },
      mounts: toMounts({ spec, init, toolchains, ...sockets }),
      identity: identityOf(spec.directory),
    }),
  );
  resources.defer(() => endContainer(engine, id));
  await engine.start(id);
  return { id, denials, egress, ...(await door.enter()) };
}

function ourselves(): Owner {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

function identityOf(directory: number): string {
  const { dev, ino } = fstatSync(directory, { bigint: true });
  return `${dev}:${ino}`;
}

/** The engine ends it too, when its init has ended; what an engine that is gone left is swept by who comes next. */
async function endContainer(engine: Engine, id: string): Promise<void> {
  try {
    await engine.remove(id);
    await engine.waitFor(id);
  } catch {
    // Nothing runs in it: the kernel has seen to that when the init ended.
  }
}

interface FinishOptions extends BeginOptions {
  readonly watchdogs: Watchdogs;
}

/** Until it takes commands. How long that takes is a matter of what is in the workspace. */
async function finish(options: FinishOptions, begun: Begun): Promise<Sandbox> {
  const { spec, image, engine } = options;
  const { id, denials, egress, socket, words } = begun;
  // Before anybody can miss it.
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const pid = await engine.pidOf(id);
  const group = observeGroup(pid, id);
  try {
    const init = await connectInit({
      ...{ provider: name, socket, workspacePath: spec.workspacePath },
      environment: { ...toEnvironment(image.toolchains, spec), ...egress?.environment },
      limits: toRlimits(spec.limits, true),
      onRefused: (call) => denials.add(refusedCall(call)),
      explainEnd: () => (hasKilled(group) ? outOfMemory(spec.limits) : undefined),
    });
    await egress?.forgetName();
    // The number means another process here, if it is not in that group.
    return toSandbox(options, { init, denials, gone, group, pid: group ? pid : 0, endSandbox: () => socket.destroy() });
  } catch (cause) {
    socket.destroy();
    const said = await words;
    throw unavailable(explainStart(said, 'Docker cannot make a sandbox on this machine'), new Error(said, { cause }));
  }
}

type ObservedGroup = ReturnType<typeof observeGroup>;

function hasKilled(group: ObservedGroup): boolean {
  try {
    return group !== undefined && group.refusals().memoryKills > 0;
  } catch {
    // Gone with its sandbox.
    return false;
  }
}

interface SandboxParts {
  readonly init: InitClient;
  readonly denials: Denials;
  readonly gone: Promise<void>;
  readonly group: ObservedGroup;
  readonly pid: number;
  readonly endSandbox: () => void;
}

function toSandbox({ spec, watchdogs, resources }: FinishOptions, parts: SandboxParts): Sandbox {
  const { init, denials, gone, group, pid, endSandbox } = parts;
  const { limits, cacheDirectory } = spec;
  const directories = [`/proc/self/fd/${spec.directory}`, ...(cacheDirectory === undefined ? [] : [cacheDirectory])];
  const watchdog = watchdogs.start({ pid, limits, directories, hasGroup: true, endSandbox });
  resources.defer(() => watchdog.stop());
  const closed = gone.then(() => resources.disposeAsync());
  const readGroup = group ? createGroupReader(group, limits) : () => [];
  return {
    ...{ name, workspacePath: spec.workspacePath, network: spec.network.mode, limits },
    start: (command) => watchdog.watch(init.start(command)),
    takeDenials: () => [...readGroup(), ...watchdog.takeDenials(), ...denials.take()],
    async close() {
      init.close();
      await closed;
    },
    closed,
  };
}
