import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { installPackages } from '../../../scripts/install-packages.ts';
import type { Say } from '../../bench.ts';

const folder = import.meta.dirname;
const installMs = 240_000;

/** Installs other systems for code on first use. Their install scripts are not run. */
export async function installCodePeers(say: Say): Promise<void> {
  await installPackages({ folder, what: 'peers for code', timeoutMs: installMs, flags: ['--ignore-scripts'], say });
}

export function peerFile(path: string): string {
  return join(folder, 'node_modules', path);
}

/** Runs a program without a network but its own loopback: none of the peers is asked whether it sends what it sees. */
export function inOwnNetwork(argv: readonly string[]): [string, ...string[]] {
  const enter = 'ip link set lo up && exec "$@"';
  return ['unshare', '--user', '--map-root-user', '--net', 'sh', '-c', enter, 'sh', ...argv];
}

/** The native TypeScript server that Croft ships. */
export function typescriptServer(): [string, ...string[]] {
  return [join(directoryOf(`@typescript/typescript-linux-${process.arch}`), 'lib/tsc'), '--lsp', '--stdio'];
}

export function pythonServer(): [string, ...string[]] {
  return [process.execPath, join(directoryOf('pyright'), 'langserver.index.js'), '--stdio'];
}

function directoryOf(name: string): string {
  const croft = join(folder, '../../../packages/croft/package.json');
  const typescript = findPackageJSON('typescript', croft);
  const manifest = findPackageJSON(name, name.startsWith('@typescript/') && typescript ? typescript : croft);
  if (manifest === undefined) throw new Error(`the package ${name} is not installed`);
  return dirname(manifest);
}
