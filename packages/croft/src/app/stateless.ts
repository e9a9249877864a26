import type { ResourceView, SandboxConfig } from '../core/accounts/registry.ts';
import { toCommandSettings } from '../core/accounts/sandbox-settings.ts';
import type { Workspace } from '../core/workspace.ts';
import { realpathOf } from '../lib/workspace-owner.ts';
import { openSandbox, type RuntimeMeans } from './runtime-means.ts';

const name = 'scratch';

/** What an agent with a sandbox and no workspace runs commands in: an empty directory for each sandbox. */
export function createStateless(
  { id, accountId, config }: ResourceView<SandboxConfig>,
  means: RuntimeMeans,
): Workspace & Disposable {
  const { root, handle, files, [Symbol.dispose]: dispose } = means.kept.openScratch(name);
  return {
    ...{ id, name, root, files, access: 'read-write', permission: config.permissionMode, isFleeting: true },
    commands: toCommandSettings(config),
    ...means.furnish({ name, root, key: realpathOf(handle), directory: () => handle, files, mustBeThere() {} }),
    async openSandbox() {
      const place = means.kept.openScratch(name);
      try {
        const where = { directory: place.handle, workspacePath: place.root };
        const sandbox = await means.room.openSandbox(accountId, () => openSandbox(config, where, means));
        void sandbox.closed.finally(() => place[Symbol.dispose]());
        return sandbox;
      } catch (thrown) {
        place[Symbol.dispose]();
        throw thrown;
      }
    },
    [Symbol.dispose]: dispose,
  };
}
