import { randomUUID } from 'node:crypto';
import { fstatSync } from 'node:fs';
import type { Sandbox, SandboxSpec } from '../../core/commands/sandbox.ts';
import {
  createDenialLog,
  type DenialLog,
  outOfMemoryReason,
  toInitDenial,
  toSystemCallDenial,
} from '../../host/denial-log.ts';
import { type Egress, openEgress } from '../../host/egress.ts';
import { explainStartFailure } from '../../host/explain-start-failure.ts';
import type { Watchdogs } from '../../host/limits/watchdog.ts';
import { toRlimits, toSandboxEnvironment } from '../../host/sandbox-environment.ts';
import { connectInit } from '../../init/connect-init.ts';
import type { ConcurrencyLimit } from '../../lib/concurrency/concurrency-limit.ts';
import type { Owner } from '../../lib/files/workspace-owner.ts';
import type { ChosenImage } from './choose-image.ts';
import type { ContainerOptions } from './container-config.ts';
import { toContainerMounts } from './container-mounts.ts';
import { toContainerSandbox } from './container-sandbox.ts';
import { providerName, unavailable } from './docker-errors.ts';
import type { EngineClient } from './engine-client.ts';
import { type InitSocket, listenForInit } from './init-socket.ts';
import { type ContainerObservation, hasKilledForMemory, observeContainer } from './observe-container.ts';

/** Time limit from the start of the container until its init takes commands, including the search for control files. */
const entersWithinMs = 30_000;

/** Builds the container's configuration. Tests replace it to remove one guard and see what it guards. */
export interface DockerParts {
  readonly toContainer: (options: ContainerOptions) => object;
}

export interface OpenContainerOptions extends DockerParts {
  readonly spec: SandboxSpec;
  readonly owner: Owner | undefined;
  readonly image: ChosenImage;
  readonly engine: EngineClient;
  readonly init: string;
  /** The directory for sockets, which no other process can enter. */
  readonly socketDirectory: string;
  readonly starting: ConcurrencyLimit;
  readonly watchdogs: Watchdogs;
  /** Resources to release when the sandbox closes. */
  readonly resources: AsyncDisposableStack;
}

/** If a step fails, the caller releases with `resources` what was made until then. */
export async function openContainer(options: OpenContainerOptions): Promise<Sandbox> {
  const { spec, owner, engine, socketDirectory, starting, resources } = options;
  const denials = createDenialLog();
  const egress = await openEgress({ policy: spec.network, owner, onDenied: denials.add });
  if (egress) resources.use(egress);
  const initSocket = await listenForInit(socketDirectory);
  resources.defer(initSocket.close);
  const seen: ContainerObservation = { pid: 0, group: undefined };
  // The init may connect, and even end, before the engine answers that the container started.
  const entering = awaitInit(initSocket, { ...options, denials, egress, seen });
  entering.catch(() => {});
  const id = await starting.run(() => startContainer(options, initSocket, egress));
  Object.assign(seen, await observeContainer(engine, id));
  const late = setTimeout(initSocket.close, entersWithinMs);
  const entered = await entering.finally(() => clearTimeout(late));
  egress?.unlinkSocket();
  return toContainerSandbox(options, { ...entered, ...seen, id, denials });
}

async function startContainer(
  options: OpenContainerOptions,
  initSocket: InitSocket,
  egress: Egress | undefined,
): Promise<string> {
  const { spec, owner, image, engine, init, resources } = options;
  const tools = image.isHost ? image.tools : undefined;
  const sockets = { serverSocket: initSocket.path, proxySocket: egress?.socketPath };
  const container = options.toContainer({
    ...{ spec, image: image.name, user: owner ?? ourselves(), hasProxy: egress !== undefined },
    mounts: toContainerMounts({ spec, init, tools, ...sockets }),
    identity: identityOf(spec.directoryFd),
  });
  const id = await engine.create(`croft-${randomUUID()}`, container);
  resources.defer(() => endContainer(engine, id));
  await engine.start(id);
  return id;
}

function ourselves(): Owner {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

function identityOf(directoryFd: number): string {
  const { dev, ino } = fstatSync(directoryFd, { bigint: true });
  return `${dev}:${ino}`;
}

/**
 * The engine also removes the container when its init has ended. If the engine is gone, the next server's sweep removes
 * what it left.
 */
async function endContainer(engine: EngineClient, id: string): Promise<void> {
  try {
    await engine.remove(id);
    await engine.waitFor(id);
  } catch {
    // The kernel ended all programs of the container together with its init.
  }
}

interface AwaitInitOptions extends OpenContainerOptions {
  readonly denials: DenialLog;
  readonly egress: Egress | undefined;
  readonly seen: ContainerObservation;
}

/** Waits until the sandbox takes commands. The time depends on what is in the workspace. */
async function awaitInit(initSocket: InitSocket, { spec, image, denials, egress, seen }: AwaitInitOptions) {
  const { socket, words } = await initSocket.accept();
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  try {
    const init = await connectInit({
      ...{ provider: providerName, socket, workspacePath: spec.workspacePath },
      environment: { ...toSandboxEnvironment(image.tools, spec), ...egress?.environment },
      limits: toRlimits(spec.limits, true),
      onRefused: (call) => denials.add(toSystemCallDenial(call)),
      onGuardedControlFile: (held) => denials.add(toInitDenial(held)),
      explainEnd: () => (hasKilledForMemory(seen.group) ? outOfMemoryReason(spec.limits) : undefined),
    });
    return { init, gone, endSandbox: () => void socket.destroy() };
  } catch (cause) {
    socket.destroy();
    const said = await words;
    throw unavailable(
      explainStartFailure(said, 'Docker cannot make a sandbox on this machine'),
      new Error(said, { cause }),
    );
  }
}
