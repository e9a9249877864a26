import { notFound } from '../../core/accounts/access/registry-errors.ts';
import type { Registry } from '../../core/accounts/ports/registry.ts';
import type { AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import { withSecretVariables } from '../../core/accounts/surface/sandbox-variables.ts';
import type { Sandbox } from '../../core/commands/sandbox.ts';
import type { Reservations } from '../../core/reservations/reservations.ts';
import type { TerminalOwner } from '../../core/terminals/terminals.ts';
import { openLocalWorkspace } from '../agents/open-local-workspace.ts';
import { openRemoteWorkspace } from '../agents/open-remote-workspace.ts';
import type { RuntimeOptions } from '../agents/runtime-options.ts';
import { type RemoteSurfaces, toWorkspaceKey } from '../fleet/remote-surface.ts';

export interface PersonSandboxOptions extends RuntimeOptions {
  readonly registry: Registry;
  readonly remote: RemoteSurfaces;
  readonly reservations: Pick<Reservations, 'use' | 'findName'>;
}

/**
 * Opens a sandbox for a person over a workspace, on this machine or on a runner. Opens exactly the one that was asked
 * for.
 */
export async function openPersonSandbox(owner: TerminalOwner, options: PersonSandboxOptions): Promise<Sandbox> {
  const attached = await find(owner, options);
  const bound = (await options.remote.bindToRunners({ workspaces: [attached] }))
    ? await find(owner, options)
    : attached;
  const { workspaces } = await options.remote.openWorkspaces({ workspaces: [bound] });
  const remoteWorkspace = workspaces.get(toWorkspaceKey(bound.record.id, bound.name));
  const workspace = remoteWorkspace
    ? openRemoteWorkspace(bound, remoteWorkspace, options, owner.person)
    : openLocalWorkspace(bound, options, owner.person);
  return workspace.openSandbox();
}

async function find(
  { accountId, sandboxId, workspaceId }: TerminalOwner,
  { registry, reservations }: PersonSandboxOptions,
): Promise<AttachedWorkspace> {
  const [found, record, secrets] = await Promise.all([
    registry.sandboxes.open(accountId, sandboxId),
    registry.workspaces.open(accountId, workspaceId),
    registry.secrets.openAll(accountId),
  ]);
  if (!found) throw notFound('Sandbox');
  if (!record) throw notFound('Workspace');
  const isDirectoryName = /^[A-Za-z0-9._-]{1,64}$/.test(record.name) && !/^\.+$/.test(record.name);
  // A persistent sandbox that an agent has open has the agent's name for the workspace.
  const open = found.config.persistent && reservations.findName({ sandboxId, workspaceId });
  const name = open || (isDirectoryName ? record.name : 'workspace');
  return { name, record, sandbox: withSecretVariables(found, secrets), reads: 'sandbox' };
}
