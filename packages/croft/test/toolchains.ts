import { execFile } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findToolchains } from '../src/host/toolchains.ts';

interface Toolchain {
  /** Programs, and files by their whole paths, that are there when it is. */
  readonly needs: readonly string[];
  /** What brings them on Debian, whose own repository has what nothing here may fetch from elsewhere. */
  readonly packages: readonly string[];
  /** Whether a machine that starts services would start it for good once it is there, which is not for tests to do. */
  readonly isService?: true;
}

const mavenPlugins = '/usr/share/maven-repo/org/apache/maven/plugins';

const toolchains = {
  node: { needs: ['node', 'npm'], packages: ['nodejs', 'npm'] },
  python: { needs: ['python3', 'pytest'], packages: ['python3', 'python3-pytest'] },
  flake8: { needs: ['flake8'], packages: ['flake8'] },
  mypy: { needs: ['mypy'], packages: ['mypy'] },
  go: { needs: ['go', 'gofmt'], packages: ['golang-go'] },
  rust: { needs: ['cargo', 'rustc', 'cargo-clippy'], packages: ['cargo', 'rust-clippy'] },
  rustfmt: { needs: ['rustfmt'], packages: ['rustfmt'] },
  cmake: { needs: ['cmake', 'ctest', 'cc', 'make'], packages: ['cmake', 'gcc', 'libc6-dev', 'make'] },
  meson: { needs: ['meson', 'ninja', 'cc'], packages: ['meson', 'ninja-build', 'gcc', 'libc6-dev'] },
  docker: { needs: ['dockerd', 'containerd', 'runc'], packages: ['docker.io'], isService: true },
  'docker client': { needs: ['docker'], packages: ['docker.io'], isService: true },
  openssl: { needs: ['openssl'], packages: ['openssl'] },
  iproute: { needs: ['/usr/sbin/ip', '/usr/bin/nsenter'], packages: ['iproute2', 'util-linux'] },
  'another kernel': { needs: ['/usr/bin/linux.uml', 'cc'], packages: ['user-mode-linux', 'gcc', 'libc6-dev'] },
  shellcheck: { needs: ['shellcheck'], packages: ['shellcheck'] },
  maven: {
    // The versions that the fixture names: without them in the repository of Debian it cannot be built offline.
    needs: [
      ...['mvn', 'javac', '/usr/share/maven-repo/junit/junit/4.x', `${mavenPlugins}/maven-surefire-plugin/2.22.3`],
      ...[`${mavenPlugins}/maven-compiler-plugin/3.10.1`, `${mavenPlugins}/maven-resources-plugin/3.3.0`],
    ],
    packages: [
      ...['maven', 'default-jdk-headless', 'libsurefire-java', 'junit4'],
      ...['libmaven-compiler-plugin-java', 'libmaven-resources-plugin-java'],
    ],
  },
} as const satisfies Record<string, Toolchain>;

export type ToolchainName = keyof typeof toolchains;
const toolchainNames = Object.keys(toolchains) as ToolchainName[];

/** Whether sandboxes have these, which root is given if they are to be had. If not, it is said and the caller skips. */
export async function hasToolchains(...names: readonly ToolchainName[]): Promise<boolean> {
  for (const name of names) {
    const trouble = missingOf(name).length === 0 ? '' : await install(name);
    const missing = missingOf(name);
    if (missing.length === 0) continue;
    console.warn(`SKIPPED, because ${name} is not there: ${missing.join(', ')}${trouble}`);
    return false;
  }
  return true;
}

/** Where programs are found in a sandbox, which is not everywhere that this process finds them. */
const places = findToolchains(process.env.PATH ?? '', process.env.HOME ?? '/').path;

function missingOf(name: ToolchainName): string[] {
  const isThere = (need: string) => need.startsWith('/') || places.some((place) => existsSync(join(place, need)));
  return toolchains[name].needs.filter((need) => !isThere(need) || (need.startsWith('/') && !existsSync(need)));
}

function isService(name: ToolchainName): boolean {
  return 'isService' in toolchains[name];
}

const run = promisify(execFile);
const forgetAfterMs = 10 * 60_000;

/** Why it did not work. Twice at most, and not again by every test file after one that tried in vain. */
async function install(name: ToolchainName): Promise<string> {
  if (process.getuid?.() !== 0) return '; not root';
  if (isService(name) && existsSync('/run/systemd/system')) return '; it would be started as a service of this machine';
  const failed = join(tmpdir(), `croft-test-no-${name}`);
  const since = statSync(failed, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - since < forgetAfterMs) return `; it could not be installed, see ${failed}`;
  console.warn(`installing what is missing, ${name} for one`);
  try {
    // What other test files are going to miss comes along; whatever of it cannot be had is their trouble.
    const all = toolchainNames.filter((one) => (one === name || !isService(one)) && missingOf(one).length > 0);
    await aptInstall(all).catch(async () => {
      await aptGet('update');
      await aptInstall([name]);
    });
    return '';
  } catch (thrown) {
    writeFileSync(failed, String(thrown));
    return `; ${thrown}`;
  }
}

function aptInstall(names: readonly ToolchainName[]): Promise<void> {
  return aptGet('install', '--no-install-recommends', ...names.flatMap((name) => toolchains[name].packages));
}

/** One after the other: several test files may come to miss something at once. */
async function aptGet(...args: readonly string[]): Promise<void> {
  const lock = join(tmpdir(), 'croft-test-apt.lock');
  const command = ['timeout', '150', 'apt-get', '-y', '-o', 'DPkg::Lock::Timeout=120', ...args];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('flock', ['--timeout', '300', lock, ...command], { env, maxBuffer: 64 * 1024 * 1024 });
}
