import { describe } from 'vitest';
import type { LinkEndpointOptions } from './link-endpoint.ts';
import { makeNetwork, startRunnerIn, whyNoNetwork } from './own-network.ts';
import { type RunnerOptions, startRunner } from './runner-fixture.ts';

/** The network between a server and its runners. */
export interface Network {
  readonly endpoint?: LinkEndpointOptions;
  start(options: RunnerOptions): Promise<AsyncDisposable & { readonly root: string }>;
  end(): void;
}

const why = await whyNoNetwork();

/** Runs the same tests with runners on loopback and with runners in a network namespace of their own. */
export function describeInNetworks(describeTests: (open: () => Network) => void): void {
  describe('on loopback', () => {
    describeTests(() => ({ start: startRunner, end() {} }));
  });

  describe.skipIf(why !== undefined)(`in a network of its own${why === undefined ? '' : ` (${why})`}`, () => {
    describeTests(() => {
      const network = makeNetwork();
      return {
        endpoint: { host: network.address, allowsInsecure: true },
        start: async ({ args = [], ...options }) =>
          startRunnerIn(network, { ...options, args: [...args, '--insecure'] }),
        end: network[Symbol.dispose],
      };
    });
  });
}
