import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { RunnerWorkspace } from '../../src/core/runner-workspaces/runner-workspace.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { describeFiles } from '../contracts/files.ts';
import { describeSandbox } from '../contracts/sandbox.ts';
import { makeDirectory } from '../support/harness.ts';
import { roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { startLinkEndpoint } from './link-endpoint.ts';
import { describeInNetworks, type Network } from './networks.ts';

/**
 * What files and sandboxes promise, of a real `croft runner` behind a real socket. One directory and one link for all
 * of the tests, which are made one after the other: each leaves an empty one to the next.
 */

/** A runner keeps the caches of package managers. */
const cacheVariables = ['CARGO_HOME', 'COMPOSER_CACHE_DIR', 'GOMODCACHE', 'GRADLE_USER_HOME', 'npm_config_cache'];

function describeContracts(open: () => Network): void {
  const ends = new AsyncDisposableStack();
  let fixture: ReturnType<typeof makeDirectory>;
  let directory: string;
  let workspace: RunnerWorkspace;
  beforeAll(async () => {
    fixture = makeDirectory();
    ends.defer(fixture[Symbol.dispose]);
    directory = fixture.at('work');
    mkdirSync(directory);
    const { endpoint: options, start, end } = open();
    ends.defer(end);
    const endpoint = ends.use(await startLinkEndpoint(options));
    const { token, peer } = endpoint.expect();
    ends.use(await start({ url: endpoint.url, token, args: ['--workspaces', `work=${directory}`] }));
    const namespace = `fs-${'0'.repeat(40)}`;
    workspace = await createRemoteWorkspace(await peer, { namespace, workspace: 'work', name: 'work' });
  });
  afterAll(() => ends.disposeAsync());

  const clear = () => {
    chmodSync(directory, 0o755);
    const beside = readdirSync(fixture.path).filter((name) => name !== 'work');
    const inside = readdirSync(directory).map((name) => join('work', name));
    for (const name of [...beside, ...inside]) rmSync(fixture.at(name), { recursive: true, force: true });
  };

  describeFiles('remote', async () => ({
    ...{ files: workspace.files, directory },
    async [Symbol.asyncDispose]() {
      clear();
    },
  }));

  describeSandbox('remote', async () => {
    const sandbox = await workspace.openSandbox({ limits: roomyLimits, network: { mode: 'deny-all' } });
    onTestFinished(async () => {
      await sandbox.close();
      clear();
    });
    return { sandbox, directory, variables: cacheVariables };
  });
}

describeInNetworks(describeContracts);
