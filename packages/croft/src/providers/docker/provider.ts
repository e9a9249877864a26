import { availableParallelism } from 'node:os';
import type { Provider } from '../../core/commands/sandbox.ts';
import { createWatchdogs } from '../../host/limits/watchdog.ts';
import { createPersonalSettingsAdder } from '../../host/personal/add-personal-settings.ts';
import { createHostTools, type HostToolsOptions } from '../../host/toolchains/host-tools.ts';
import { findInit } from '../../init/find-init.ts';
import { createConcurrencyLimit } from '../../lib/concurrency/concurrency-limit.ts';
import { once } from '../../lib/concurrency/once.ts';
import { makeTemporaryDirectory } from '../../lib/files/temporary-directory.ts';
import { findUnreachable, ownerOf } from '../../lib/files/workspace-owner.ts';
import { chooseImage } from './choose-image.ts';
import { toContainerConfig } from './container-config.ts';
import { explainEngine, providerName, unavailable } from './docker-errors.ts';
import { createEngineClient } from './engine-client.ts';
import { type DockerParts, openContainer } from './open-container.ts';
import { sweepLeftovers } from './sweep-leftovers.ts';

interface DockerOptions extends HostToolsOptions {
  /** The engine's socket. Without it, Docker's usual socket. */
  readonly dockerSocket?: string | undefined;
  /** The image for containers. Without it, they use the programs of this machine, as with bubblewrap. */
  readonly image?: string | undefined;
}

const usualSocket = '/var/run/docker.sock';

/**
 * Opens sandboxes as containers of Docker, or of any engine with its API. Each has the same init as every other
 * sandbox.
 */
export function createDocker(
  options: DockerOptions,
  parts: DockerParts = { toContainer: toContainerConfig },
): Provider {
  const { dockerSocket = usualSocket, image: wanted } = options;
  const engine = createEngineClient(dockerSocket);
  const [findTools, personalize] = [createHostTools(options), createPersonalSettingsAdder(options)];
  const watchdogs = createWatchdogs();
  const starting = createConcurrencyLimit(2 * availableParallelism());
  const socketDirectory = once(async () => makeTemporaryDirectory('docker'));
  const sweep = once(() => sweepLeftovers(engine));
  return {
    name: providerName,
    async open(spec) {
      const owner = ownerOf(spec.directoryFd);
      const hidden = findUnreachable(spec.readable, owner);
      if (hidden !== undefined)
        throw unavailable(`${hidden} was to be readable, but the owner of the workspace cannot reach it`);
      const resources = new AsyncDisposableStack();
      try {
        await sweep();
        const tools = await personalize(findTools(spec.readable, owner), spec, owner);
        const image = await chooseImage(engine, wanted, tools);
        const made = {
          ...parts,
          spec,
          owner,
          image,
          engine,
          init: findInit(),
          socketDirectory: await socketDirectory(),
          resources,
        };
        return await openContainer({ ...made, starting, watchdogs });
      } catch (thrown) {
        await resources.disposeAsync();
        throw explainEngine(thrown);
      }
    },
  };
}
