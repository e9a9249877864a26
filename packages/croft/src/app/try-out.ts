import type { Provider, SandboxLimits } from '../core/commands/sandbox.ts';
import { createKeptWorkspaces } from '../storages/index.ts';

/**
 * Opens a sandbox and closes it, so that an operator learns at the start what every call would fail by. Bubblewrap asks
 * for much that a machine may forbid, and a container most of all; an engine of containers may come up later.
 */
export async function tryOut(provider: Provider, data: string, limits: SandboxLimits): Promise<void> {
  if (provider.name !== 'bubblewrap') return;
  using scratch = createKeptWorkspaces(data).openScratch('trial');
  const place = { directory: scratch.handle, workspacePath: scratch.root, readable: [] };
  const sandbox = await provider.open({ ...place, limits, network: { mode: 'deny-all' } });
  await sandbox.close();
}
