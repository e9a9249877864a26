import type { Sandbox } from '../../core/commands/sandbox.ts';
import { createGroupDenialReader, type DenialLog } from '../../host/denial-log.ts';
import { temporaryPath } from '../../host/sandbox-paths.ts';
import type { InitClient } from '../../init/connect-init.ts';
import { providerName } from './docker-errors.ts';
import type { EngineClient } from './engine-client.ts';
import type { ContainerObservation } from './observe-container.ts';
import type { OpenContainerOptions } from './open-container.ts';

interface SandboxParts extends ContainerObservation {
  readonly id: string;
  readonly init: InitClient;
  readonly denials: DenialLog;
  readonly gone: Promise<void>;
  readonly endSandbox: () => void;
}

export function toContainerSandbox(
  { spec, engine, watchdogs, resources }: OpenContainerOptions,
  parts: SandboxParts,
): Sandbox {
  const { id, init, denials, gone, group, pid, endSandbox } = parts;
  const { limits, cacheDirectory } = spec;
  const directories = [`/proc/self/fd/${spec.directoryFd}`, ...(cacheDirectory === undefined ? [] : [cacheDirectory])];
  const { remainingQuota, minFreeBytes } = spec;
  const watchdog = watchdogs.start({
    pid,
    limits,
    minFreeBytes,
    directories,
    left: remainingQuota,
    hasGroup: true,
    endSandbox,
  });
  resources.defer(() => watchdog.stop());
  const closed = gone.then(() => resources.disposeAsync());
  const readGroup = group ? createGroupDenialReader(group, limits) : () => [];
  return {
    ...{ name: providerName, workspacePath: spec.workspacePath, temporaryPath, network: spec.network.mode, limits },
    start: (command) => watchdog.watch(init.start(command)),
    suspend: () => pauseContainer(engine, id),
    takeDenials: () => [...readGroup(), ...watchdog.takeDenials(), ...denials.take()],
    async close() {
      init.close();
      await closed;
    },
    closed,
  };
}

/** Stops the programs of a container. The returned function lets them continue, once the engine has stopped them. */
function pauseContainer(engine: Pick<EngineClient, 'pause' | 'unpause'>, id: string): () => void {
  const paused = engine.pause(id).catch(() => {});
  return () => void paused.then(() => engine.unpause(id)).catch(() => {});
}
