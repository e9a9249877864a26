import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { canReach, type Owner } from './workspace-owner.ts';

/**
 * User ids above those of ordinary hosts, so that no workspace shares an id with a person or, most likely, with another
 * workspace.
 */
const firstOwner = 0x40000000;
const owners = 0x20000000;

/**
 * Returns the directory of a workspace, and makes it if it is missing. A server that runs as root gives each workspace
 * its own owner, and its sandboxes run as that owner.
 */
export function makeWorkspaceDirectory(parent: string, name: string, namespace = name): string {
  const directory = join(parent, name);
  mkdirSync(parent, { recursive: true });
  const known = lstatSync(directory, { throwIfNoEntry: false });
  // Another server may make the same directory at this moment.
  if (!known) mkdirSync(directory, { mode: 0o700, recursive: true });
  if (process.getuid?.() !== 0 || (known && !isUnowned(known, directory))) return directory;
  makeParentDirectory(parent);
  const owner = ownerIn(parent, namespace);
  if (owner) chownSync(directory, owner.uid, owner.gid);
  return directory;
}

/** Makes the directory above workspaces. If the server runs as root, the owners of workspaces may pass through it. */
export function makeParentDirectory(parent: string): void {
  mkdirSync(parent, { recursive: true });
  if (process.getuid?.() === 0) chmodSync(parent, 0o711);
}

/** Returns the owner of a new workspace below `parent`, or `undefined` for the user of this process. */
function ownerIn(parent: string, namespace: string): Owner | undefined {
  const uid = firstOwner + (Number.parseInt(namespace.slice(3, 11), 16) % owners);
  return canReach(parent, { uid, gid: uid }) ? { uid, gid: uid } : undefined;
}

/** Tells whether a server was killed between making the directory and changing its owner. */
function isUnowned({ uid }: Stats, directory: string): boolean {
  return uid === 0 && readdirSync(directory).length === 0;
}
