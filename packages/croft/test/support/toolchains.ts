import { execFile } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findToolchains } from '../../src/host/toolchains/toolchains.ts';

interface Toolchain {
  /** Programs, and files by absolute path, that prove that it is installed. */
  readonly needs: readonly string[];
  /** Debian packages that install it; nothing may be fetched from elsewhere. */
  readonly packages: readonly string[];
  /** Whether installing it would start a service on the machine, which tests must not do. */
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
  autotools: {
    needs: ['autoreconf', 'libtoolize', 'flex', 'bison', '/usr/include/oniguruma.h'],
    packages: ['autoconf', 'automake', 'libtool', 'flex', 'bison', 'libonig-dev'],
  },
  tcl: { needs: ['tclsh'], packages: ['tcl'] },
  docker: { needs: ['dockerd', 'containerd', 'runc'], packages: ['docker.io'], isService: true },
  'docker client': { needs: ['docker'], packages: ['docker.io'], isService: true },
  // Includes its library, which gives a process a wrong clock.
  faketime: { needs: ['faketime'], packages: ['faketime'] },
  openssl: { needs: ['openssl'], packages: ['openssl'] },
  iproute: { needs: ['/usr/sbin/ip', '/usr/bin/nsenter'], packages: ['iproute2', 'util-linux'] },
  'another kernel': { needs: ['/usr/bin/linux.uml', 'cc'], packages: ['user-mode-linux', 'gcc', 'libc6-dev'] },
  pylint: { needs: ['pylint'], packages: ['pylint'] },
  bundler: { needs: ['ruby', 'gem', 'bundle'], packages: ['ruby', 'bundler'] },
  composer: { needs: ['php', 'composer', 'unzip'], packages: ['php-cli', 'composer', 'unzip'] },
  pip: { needs: ['python3', 'pip3'], packages: ['python3', 'python3-pip'] },
  rubocop: { needs: ['rubocop'], packages: ['rubocop'] },
  phpcs: { needs: ['phpcs'], packages: ['php-codesniffer'] },
  shellcheck: { needs: ['shellcheck'], packages: ['shellcheck'] },
  maven: {
    // The versions in the fixture: without them in Debian's repository it cannot be built offline.
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

/**
 * Whether sandboxes have these toolchains. Root installs missing ones if possible; otherwise it prints why, and the
 * caller skips.
 */
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

/** Paths of programs in a sandbox, which are fewer than in this process. */
const programDirectories = findToolchains(process.env.PATH ?? '', process.env.HOME ?? '/').path;

function missingOf(name: ToolchainName): string[] {
  const isThere = (need: string) =>
    need.startsWith('/') || programDirectories.some((directory) => existsSync(join(directory, need)));
  return toolchains[name].needs.filter((need) => !isThere(need) || (need.startsWith('/') && !existsSync(need)));
}

function isService(name: ToolchainName): boolean {
  return 'isService' in toolchains[name];
}

const run = promisify(execFile);
const forgetAfterMs = 10 * 60_000;

/**
 * Installs a toolchain and returns why it failed. Tries at most twice, and not again in every test file after a
 * failure.
 */
async function install(name: ToolchainName): Promise<string> {
  if (process.getuid?.() !== 0) return '; not root';
  if (isService(name) && existsSync('/run/systemd/system')) return '; it would be started as a service of this machine';
  const failed = join(tmpdir(), `croft-test-no-${name}`);
  const since = statSync(failed, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - since < forgetAfterMs) return `; it could not be installed, see ${failed}`;
  console.warn(`installing what is missing, ${name} for one`);
  try {
    // Installs what other test files will need too; failures of those are left to them.
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

/** Under a lock, because several test files may install at once. */
async function aptGet(...args: readonly string[]): Promise<void> {
  const lock = join(tmpdir(), 'croft-test-apt.lock');
  const command = ['timeout', '150', 'apt-get', '-y', '-o', 'DPkg::Lock::Timeout=120', ...args];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('flock', ['--timeout', '300', lock, ...command], { env, maxBuffer: 64 * 1024 * 1024 });
}
