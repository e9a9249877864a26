import { randomUUID } from 'node:crypto';
import { fstatSync } from 'node:fs';
import type { Sandbox, SandboxSpec } from '../../core/commands/sandbox.ts';
import { createDenials, type Denials, outOfMemory, refusedCall } from '../../host/denials.ts';
import { type Egress, openEgress } from '../../host/egress.ts';
import { toEnvironment, toRlimits } from '../../host/environment.ts';
import { explainStart } from '../../host/explain-start.ts';
import type { Watchdogs } from '../../host/watchdog.ts';
import { connectInit } from '../../init/client.ts';
import type { Slots } from '../../lib/slots.ts';
import type { Owner } from '../../lib/workspace-owner.ts';
import type { ContainerOptions } from './container.ts';
import { type Door, openDoor } from './door.ts';
import type { Engine } from './engine.ts';
import type { ChosenImage } from './image.ts';
import { toMounts } from './mounts.ts';
import { hasKilled, type Observed, observe } from './observe.ts';
import { toSandbox } from './sandbox.ts';
import { name, unavailable } from './unavailable.ts';

/** From its start, and with what it has to look for in the workspace. */
const entersWithinMs = 30_000;

/** What a container is made by, so that a test can take a part of the fence away and see what it held. */
export interface DockerParts {
  readonly toContainer: (options: ContainerOptions) => object;
}

export interface OpenOptions extends DockerParts {
  readonly spec: SandboxSpec;
  readonly owner: Owner | undefined;
  readonly image: ChosenImage;
  readonly engine: Engine;
  readonly init: string;
  /** A directory of this process alone. */
  readonly doors: string;
  readonly starting: Slots;
  readonly watchdogs: Watchdogs;
  /** What goes with the sandbox. */
  readonly resources: AsyncDisposableStack;
}

/** Everything that goes wrong leaves it to `resources` to clear away what is there by then. */
export async function openContainer(options: OpenOptions): Promise<Sandbox> {
  const { spec, owner, engine, doors, starting, resources } = options;
  const denials = createDenials();
  const egress = await openEgress({ policy: spec.network, owner, onDenied: denials.add });
  if (egress) resources.use(egress);
  const door = await openDoor(doors);
  resources.defer(door.close);
  const seen: Observed = { pid: 0, group: undefined };
  // It may come and be gone again before an engine has said that it started.
  const entering = enter(door, { ...options, denials, egress, seen });
  entering.catch(() => {});
  const id = await starting.run(() => startContainer(options, door, egress));
  Object.assign(seen, await observe(engine, id));
  const late = setTimeout(door.close, entersWithinMs);
  const entered = await entering.finally(() => clearTimeout(late));
  await egress?.forgetName();
  return toSandbox(options, { ...entered, ...seen, denials });
}

async function startContainer(options: OpenOptions, door: Door, egress: Egress | undefined): Promise<string> {
  const { spec, owner, image, engine, init, resources } = options;
  const toolchains = image.isHost ? image.toolchains : undefined;
  const sockets = { serverSocket: door.path, proxySocket: egress?.socketPath };
  const container = options.toContainer({
    ...{ spec, image: image.name, user: owner ?? ourselves(), hasProxy: egress !== undefined },
    mounts: toMounts({ spec, init, toolchains, ...sockets }),
    identity: identityOf(spec.directory),
  });
  const id = await engine.create(`croft-${randomUUID()}`, container);
  resources.defer(() => endContainer(engine, id));
  await engine.start(id);
  return id;
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

interface EnterOptions extends OpenOptions {
  readonly denials: Denials;
  readonly egress: Egress | undefined;
  readonly seen: Observed;
}

/** Until it takes commands. How long that takes is a matter of what is in the workspace. */
async function enter(door: Door, { spec, image, denials, egress, seen }: EnterOptions) {
  const { socket, words } = await door.enter();
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  try {
    const init = await connectInit({
      ...{ provider: name, socket, workspacePath: spec.workspacePath },
      environment: { ...toEnvironment(image.toolchains, spec), ...egress?.environment },
      limits: toRlimits(spec.limits, true),
      onRefused: (call) => denials.add(refusedCall(call)),
      explainEnd: () => (hasKilled(seen.group) ? outOfMemory(spec.limits) : undefined),
    });
    return { init, gone, endSandbox: () => void socket.destroy() };
  } catch (cause) {
    socket.destroy();
    const said = await words;
    throw unavailable(explainStart(said, 'Docker cannot make a sandbox on this machine'), new Error(said, { cause }));
  }
}
