import { AppError } from '@croft/protocol';
import type { AttachedWorkspace } from '../core/accounts/cascade.ts';
import { toCommandSettings } from '../core/accounts/sandbox-settings.ts';
import { setUp } from '../core/commands/with-settings.ts';
import type { Workspace } from '../core/workspace.ts';
import { namespaceOf } from '../storages/index.ts';
import { openSandbox, type RuntimeMeans } from './runtime-means.ts';

/** A workspace that an account keeps here, as one agent has it. */
export function openWorkspace({ name, record, sandbox }: AttachedWorkspace, means: RuntimeMeans): Workspace {
  const { provider } = record.config.storage;
  // Whoever gave it to the agent was told; a record from elsewhere is not opened as something it is not.
  if (provider !== 'local')
    throw new AppError('E_STORAGE_FAILED', `this server cannot open what is kept in ${provider}`);
  const mount = means.kept.open(namespaceOf(record.accountId, record.id), name);
  const { root, handle, files } = mount;
  let isFirst = true;
  return {
    ...{ id: record.id, name, root, files },
    access: sandbox ? 'read-write' : 'read-only',
    permission: sandbox?.config.permissionMode ?? 'ask',
    commands: sandbox && toCommandSettings(sandbox.config),
    ...means.furnish({ name, root, handle, files, mustBeThere: mount.mustBeThere }),
    checkRoom: () => means.room.checkStorage(record.accountId),
    async openSandbox() {
      if (!sandbox) throw new AppError('E_READ_ONLY', 'workspace is read-only: no sandbox available for this command');
      mount.mustBeThere();
      const place = { directory: handle, workspacePath: root };
      const opened = await means.room.openSandbox(record.accountId, () => openSandbox(sandbox.config, place, means));
      const commands = isFirst ? sandbox.config.onCreate : sandbox.config.onResume;
      isFirst = false;
      return setUp(opened, commands ?? []);
    },
  };
}
