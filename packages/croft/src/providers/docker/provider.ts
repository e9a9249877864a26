import { availableParallelism } from 'node:os';
import type { Provider } from '../../core/commands/sandbox.ts';
import { findToolchains, withinReach } from '../../host/toolchains.ts';
import { createWatchdogs } from '../../host/watchdog.ts';
import { createInitFinder } from '../../init/binary.ts';
import { once } from '../../lib/once.ts';
import { makeOwnDirectory } from '../../lib/own-directory.ts';
import { createSlots } from '../../lib/slots.ts';
import { findHidden, ownerOf } from '../../lib/workspace-owner.ts';
import { toContainer } from './container.ts';
import { createEngine } from './engine.ts';
import { chooseImage } from './image.ts';
import { type DockerParts, openContainer } from './open-container.ts';
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
export function createDocker(options: DockerOptions, parts: DockerParts = { toContainer }): Provider {
  const { path, home, dockerSocket = usualSocket, image: wanted } = options;
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
        const made = { ...parts, spec, owner, image, engine, init: findInit(), doors: await doors(), resources };
        return await openContainer({ ...made, starting, watchdogs });
      } catch (thrown) {
        await resources.disposeAsync();
        throw explainEngine(thrown);
      }
    },
  };
}
