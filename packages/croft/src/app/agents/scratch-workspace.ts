import { toCommandSettings } from '../../core/accounts/configs/convert-sandbox-config.ts';
import type { ResourceView, SandboxConfig } from '../../core/accounts/ports/registry.ts';
import { releaseWhenClosed } from '../../core/commands/release-when-closed.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { realpathOf } from '../../lib/files/workspace-owner.ts';
import { openAccountSandbox } from './open-account-sandbox.ts';
import type { RuntimeOptions } from './runtime-options.ts';

const name = 'scratch';

/** The workspace of an agent that has a sandbox and no workspace: an empty directory for each sandbox. */
export function createScratchWorkspace(
  { id, accountId, config }: ResourceView<SandboxConfig>,
  options: RuntimeOptions,
): Workspace & Disposable {
  const { root, handle, files, [Symbol.dispose]: dispose } = options.localWorkspaces.openScratch(name);
  const workspace = options.assembleWorkspace({
    ...{ id, name, root, files, access: 'read-write', permission: config.permissionMode, isFleeting: true },
    commands: toCommandSettings(config),
    key: realpathOf(handle),
    search: { directoryFd: () => handle, mustBeThere() {} },
    async openSandbox() {
      const scratch = options.localWorkspaces.openScratch(name);
      const where = { accountId, directoryFd: scratch.handle, workspacePath: scratch.root };
      const open = () => options.accountQuota.openSandbox(accountId, () => openAccountSandbox(config, where, options));
      return releaseWhenClosed(open, () => scratch[Symbol.dispose]());
    },
  });
  return { ...workspace, [Symbol.dispose]: dispose };
}
