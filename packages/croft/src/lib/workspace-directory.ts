import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { canReach, type Owner } from './workspace-owner.ts';

/** Ids above every account of an ordinary host, so that no two workspaces and no person share one. */
const firstOwner = 0x40000000;
const owners = 0x20000000;

/**
 * The directory of a workspace, made if it is not there. A server that runs as root gives each workspace an owner of its
 * own, as whom its sandboxes then run.
 */
export function makeWorkspaceDirectory(parent: string, name: string, namespace = name): string {
  const directory = join(parent, name);
  mkdirSync(parent, { recursive: true });
  const known = lstatSync(directory, { throwIfNoEntry: false });
  // Another server may make it in this very moment.
  if (!known) mkdirSync(directory, { mode: 0o700, recursive: true });
  if (process.getuid?.() !== 0 || (known && !isUnowned(known, directory))) return directory;
  makeParentDirectory(parent);
  const owner = ownerIn(parent, namespace);
  if (owner) chownSync(directory, owner.uid, owner.gid);
  return directory;
}

/** Where workspaces are. Of a server that runs as root their owners pass through it. */
export function makeParentDirectory(parent: string): void {
  mkdirSync(parent, { recursive: true });
  if (process.getuid?.() === 0) chmodSync(parent, 0o711);
}

/** Whose a workspace below `parent` is to be. `undefined`: whoever runs this. */
function ownerIn(parent: string, namespace: string): Owner | undefined {
  const uid = firstOwner + (Number.parseInt(namespace.slice(3, 11), 16) % owners);
  return canReach(parent, { uid, gid: uid }) ? { uid, gid: uid } : undefined;
}

/** As a server leaves it that is killed between making it and giving it away. */
function isUnowned({ uid }: Stats, directory: string): boolean {
  return uid === 0 && readdirSync(directory).length === 0;
}
