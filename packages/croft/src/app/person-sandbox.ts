import type { AttachedWorkspace } from '../core/accounts/cascade.ts';
import { notFound } from '../core/accounts/refusals.ts';
import type { Registry } from '../core/accounts/registry.ts';
import type { Sandbox } from '../core/commands/sandbox.ts';
import type { TerminalOwner } from '../core/terminals/terminals.ts';
import { openWorkspace } from './open-workspace.ts';
import { type RemoteSurfaces, toKey } from './runners/remote-surface.ts';
import { openRemoteWorkspace } from './runners/remote-workspace.ts';
import type { RuntimeMeans } from './runtime-means.ts';

export interface PersonMeans extends RuntimeMeans {
  readonly registry: Registry;
  readonly remote: RemoteSurfaces;
}

/** A sandbox for a person, over a workspace, wherever that is. Never another than the one that was asked for. */
export async function openForPerson(owner: TerminalOwner, means: PersonMeans): Promise<Sandbox> {
  const attached = await find(owner, means);
  const settled = (await means.remote.settle({ workspaces: [attached] })) ? await find(owner, means) : attached;
  const { places } = await means.remote.enter({ workspaces: [settled] });
  const place = places.get(toKey(settled.record.id, settled.name));
  const workspace = place
    ? openRemoteWorkspace(settled, place, means, owner.person)
    : openWorkspace(settled, means, owner.person);
  return workspace.openSandbox();
}

async function find(
  { accountId, sandboxId, workspaceId }: TerminalOwner,
  { registry }: PersonMeans,
): Promise<AttachedWorkspace> {
  const [sandbox, record] = await Promise.all([
    registry.sandboxes.open(accountId, sandboxId),
    registry.workspaces.open(accountId, workspaceId),
  ]);
  if (!sandbox) throw notFound('Sandbox');
  if (!record) throw notFound('Workspace');
  // A name that can be a directory, as an agent would call it.
  const name = /^[A-Za-z0-9._-]{1,64}$/.test(record.name) && !/^\.+$/.test(record.name) ? record.name : 'workspace';
  return { name, record, sandbox, reads: 'sandbox' };
}
