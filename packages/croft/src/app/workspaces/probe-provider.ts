import type { Provider, SandboxLimits } from '../../core/commands/sandbox.ts';
import { createDataDirectory } from '../../storages/index.ts';

/**
 * Opens a sandbox and closes it, so that an operator sees at the start what would make every call fail. Only for
 * bubblewrap, which needs much that a machine, and above all a container, may forbid. Docker may start later.
 */
export async function probeProvider(provider: Provider, data: string, limits: SandboxLimits): Promise<void> {
  if (provider.name !== 'bubblewrap') return;
  using scratch = createDataDirectory(data).openScratch('trial');
  const location = { directoryFd: scratch.handle, workspacePath: scratch.root, readable: [] };
  const sandbox = await provider.open({ ...location, limits, network: { mode: 'deny-all' } });
  await sandbox.close();
}
