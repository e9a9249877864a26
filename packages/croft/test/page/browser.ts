import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** Nothing that a browser does by itself reaches another host. */
export const browserFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function findBrowser(): string | undefined {
  const folders = ['/usr/bin', '/usr/local/bin', ...(process.env.PATH ?? '').split(':')];
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
}

/** The browser of this machine. Debian's is installed if we may; elsewhere the tests are skipped, and say so. */
export function installBrowser(): string | undefined {
  return findBrowser() ?? install('chromium', findBrowser);
}

/** An editor that draws on the whole terminal. */
export function installVim(): string | undefined {
  const find = () => ['/usr/bin/vim', '/usr/bin/vim.tiny'].find((file) => existsSync(file));
  return find() ?? install('vim-tiny', find);
}

function install(name: string, find: () => string | undefined): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined;
  process.stderr.write(`croft: installing ${name}, for the tests of the page\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (...args: string[]) => spawnSync('apt-get', args, { env, stdio: 'ignore', timeout: 300_000 });
  run('update');
  run('install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', name);
  return find();
}
