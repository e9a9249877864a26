import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { openWithStubs } from './server-fixture.ts';

/**
 * The real path of a language server on the PATH of the tests that runs, or nothing: its tests are then skipped. Debian has
 * clangd and gopls; npm has bash-language-server and vscode-langservers-extracted.
 */
export function findServer(name: string): { readonly link: string; readonly path: string } | undefined {
  try {
    const found = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    // A proxy of rustup is on the PATH without the server.
    if (name === 'rust-analyzer') execFileSync(found, ['--version'], { stdio: 'ignore' });
    return { link: found, path: realpathSync(found) };
  } catch {
    return undefined;
  }
}

/** A workspace with a server of this machine. A server outside of the system's directories is read in place. */
export function openRealServer(name: string, files: Record<string, string>) {
  const found = findServer(name) ?? { link: '', path: '' };
  const at = found.path.indexOf(`${sep}node_modules${sep}`);
  const directories = [dirname(found.link), at === -1 ? dirname(found.path) : found.path.slice(0, at)];
  const isOfSystem = (directory: string) => directory.startsWith('/usr/') || directory === '/usr';
  const own = [...new Set(directories)].filter((directory) => !isOfSystem(directory));
  return openWithStubs(
    files,
    own.flatMap((directory) => ['--allow-read', directory]),
  );
}
