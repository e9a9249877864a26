import { closeSync, constants, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { onTestFinished } from 'vitest';
import type { NetworkPolicy } from '../../../src/core/commands/network-policy.ts';
import type { Provider, Sandbox } from '../../../src/core/commands/sandbox.ts';
import { createBubblewrap } from '../../../src/providers/bubblewrap/provider.ts';

const gigabyte = 1024 ** 3;

/** Limits that only tests about limits reach. */
export const roomyLimits = {
  memoryBytes: gigabyte,
  processes: 256,
  cpus: 2,
  fileBytes: gigabyte,
  openFiles: 1024,
  diskBytes: gigabyte,
};

export const operator = { path: process.env.PATH ?? '', home: homedir() };
const bubblewrap = createBubblewrap(operator);

interface OpenOptions {
  readonly network?: NetworkPolicy;
  readonly provider?: Provider;
  readonly readable?: readonly string[];
}

/** Opens a sandbox on a directory, mounted as `/workspace`. Closed when its test ends. */
export async function openSandbox(root: string, options: OpenOptions = {}): Promise<Sandbox> {
  const { network = { mode: 'deny-all' }, provider = bubblewrap, readable = [] } = options;
  const directory = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY);
  onTestFinished(() => closeSync(directory));
  const mounted = { directoryFd: directory, workspacePath: '/workspace' };
  const sandbox = await provider.open({ ...mounted, limits: roomyLimits, network, readable });
  onTestFinished(() => sandbox.close());
  return sandbox;
}
