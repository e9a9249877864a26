import { describe } from 'vitest';
import { type RunnerOptions, startRunner } from './ground.ts';
import type { DoorOptions } from './link-door.ts';
import { makeNetwork, startRunnerIn, whyNoNetwork } from './own-network.ts';

/** Between a server and its runners. */
export interface Network {
  readonly door?: DoorOptions;
  start(options: RunnerOptions): Promise<AsyncDisposable & { readonly root: string }>;
  end(): void;
}

const why = await whyNoNetwork();

/** The same tests with the runners on loopback, and with them in a network of their own. */
export function describeInNetworks(describeTests: (open: () => Network) => void): void {
  describe('on loopback', () => {
    describeTests(() => ({ start: startRunner, end() {} }));
  });

  describe.skipIf(why !== undefined)(`in a network of its own${why === undefined ? '' : ` (${why})`}`, () => {
    describeTests(() => {
      const network = makeNetwork();
      return {
        door: { host: network.address, allowsInsecure: true },
        start: async ({ args = [], ...options }) =>
          startRunnerIn(network, { ...options, args: [...args, '--insecure'] }),
        end: network[Symbol.dispose],
      };
    });
  });
}
