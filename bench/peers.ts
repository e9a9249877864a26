import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
const modules = join(folder, 'node_modules');
const stamp = join(modules, '.installed.json');
const installMs = 120_000;
const tries = 2;

const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

export type Peer = '@anthropic-ai/sandbox-runtime' | '@modelcontextprotocol/server-filesystem';

/** Installs all peers on first use. Throws with the reason and the way on when that cannot be done. */
export async function installPeers(say: (progress: string) => void): Promise<void> {
  const wanted = JSON.stringify(dependencies);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  for (let attempt = 1; ; attempt++) {
    say(`installing the peers into bench/node_modules (try ${attempt} of ${tries})`);
    // npm takes a half-unpacked package of an earlier try for a whole one.
    rmSync(modules, { recursive: true, force: true });
    const failure = await runNpm();
    if (failure === undefined) break;
    if (attempt === tries) {
      throw new Error(`the peers could not be installed: npm ${failure}.
  Next: check the network, then try by hand: (cd bench && npm install --no-save --no-package-lock)`);
    }
  }
  writeFileSync(stamp, wanted);
}

export function versionOf(peer: Peer): string {
  return dependencies[peer] ?? 'unknown';
}

/** The main file of an installed peer. */
export function programOf(peer: Peer, path: string): string {
  return join(modules, peer, path);
}

/** How it failed, if it did. Killed with all it started at the deadline: npm can stall for ever. */
async function runNpm(): Promise<string | undefined> {
  const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn('npm', ['install', ...flags], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let [words, failure] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    words = (words + chunk).slice(-2000);
  });
  const deadline = setTimeout(() => {
    failure = `did not finish in ${installMs / 1000} s`;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, installMs);
  try {
    const [code] = await once(child, 'close');
    return failure || (code === 0 ? undefined : `ended with ${code}: ${words.trim()}`);
  } catch (thrown) {
    return `could not be started: ${thrown instanceof Error ? thrown.message : thrown}`;
  } finally {
    clearTimeout(deadline);
  }
}
