import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface InstallOptions {
  /** Has the `package.json` with the exact versions, and gets `node_modules`. */
  readonly folder: string;
  /** Name of these packages in messages. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly flags?: readonly string[];
  say(progress: string): void;
}

const tries = 2;
const always = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];

/** Installs packages that only some of us need, on first use. Throws with the reason and the way on when that cannot be done. */
export async function installPackages(options: InstallOptions): Promise<void> {
  const { folder, what, say, flags = [] } = options;
  const modules = join(folder, 'node_modules');
  const stamp = join(modules, '.installed.json');
  const wanted = JSON.stringify(dependenciesOf(folder));
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  for (let attempt = 1; ; attempt++) {
    say(`installing ${what} into ${modules} (try ${attempt} of ${tries})`);
    // npm takes a half-unpacked package of an earlier try for a whole one.
    rmSync(modules, { recursive: true, force: true });
    const failure = await runNpm(options);
    if (failure === undefined) break;
    if (attempt === tries) {
      throw new Error(`${what} could not be installed: npm ${failure}.
  Next: check the network, then try by hand: (cd ${folder} && npm install ${[...always, ...flags].join(' ')})`);
    }
  }
  writeFileSync(stamp, wanted);
}

export function dependenciesOf(folder: string): Record<string, string> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return (manifest as { dependencies: Record<string, string> }).dependencies;
}

/** How it failed, if it did. Killed with all it started at the deadline: npm can stall for ever. */
async function runNpm({ folder, timeoutMs, flags = [] }: InstallOptions): Promise<string | undefined> {
  const child = spawn('npm', ['install', ...always, ...flags], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let [words, failure] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    words = (words + chunk).slice(-2000);
  });
  const deadline = setTimeout(() => {
    failure = `did not finish in ${timeoutMs / 1000} s`;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, timeoutMs);
  try {
    const [code] = await once(child, 'close');
    return failure || (code === 0 ? undefined : `ended with ${code}: ${words.trim()}`);
  } catch (thrown) {
    return `could not be started: ${thrown instanceof Error ? thrown.message : thrown}`;
  } finally {
    clearTimeout(deadline);
  }
}
