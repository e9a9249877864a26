import type { Sandbox } from '../../core/commands/sandbox.ts';
import { createGroupReader, type Denials } from '../../host/denials.ts';
import type { InitClient } from '../../init/client.ts';
import type { Observed } from './observe.ts';
import type { OpenOptions } from './open-container.ts';
import { name } from './unavailable.ts';

interface SandboxParts extends Observed {
  readonly init: InitClient;
  readonly denials: Denials;
  readonly gone: Promise<void>;
  readonly endSandbox: () => void;
}

export function toSandbox({ spec, watchdogs, resources }: OpenOptions, parts: SandboxParts): Sandbox {
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
