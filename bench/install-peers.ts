import { join } from 'node:path';
import { dependenciesOf, installPackages } from '../scripts/install-packages.ts';

const folder = import.meta.dirname;
const installMs = 120_000;

export type Peer = '@anthropic-ai/sandbox-runtime' | '@modelcontextprotocol/server-filesystem';

/** Installs all peers on first use. Throws with the reason and the way on when that cannot be done. */
export async function installPeers(say: (progress: string) => void): Promise<void> {
  await installPackages({ folder, what: 'the peers', timeoutMs: installMs, say });
}

export function versionOf(peer: Peer): string {
  return dependenciesOf(folder)[peer] ?? 'unknown';
}

/** The main file of an installed peer. */
export function programOf(peer: Peer, path: string): string {
  return join(folder, 'node_modules', peer, path);
}
