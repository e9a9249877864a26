import { type Host, isRoot } from './host.ts';
import { type HostCheck, type HostFix, holds, missing, weaker } from './host-check.ts';

const installers: Readonly<Record<string, string>> = {
  debian: 'apt-get install -y',
  ubuntu: 'apt-get install -y',
  fedora: 'dnf install -y',
  rhel: 'dnf install -y',
  arch: 'pacman -S --needed',
  alpine: 'apk add',
  suse: 'zypper install -y',
};

/** Suggests a command for this system's package manager. */
function toInstall(host: Host, packageName: string): HostFix {
  const release = host.read('/etc/os-release') ?? '';
  const ids = [...release.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)/gm)].flatMap(([, value = '']) => value.split(' '));
  const installer = ids.map((id) => installers[id]).find((known) => known !== undefined);
  const say = `Install ${packageName}.`;
  return installer ? { say, run: `${isRoot(host) ? '' : 'sudo '}${installer} ${packageName}` } : { say };
}

/** The bubblewrap options that Croft uses and that old versions lack. */
const neededFlags = ['--bind-fd', '--ro-bind-fd', '--disable-userns', '--as-pid-1', '--info-fd', '--size'];

export async function checkBubblewrap(host: Host): Promise<HostCheck> {
  const program = host.findProgram('bwrap');
  if (!program) return missing('bubblewrap', 'not installed; nothing runs without it', toInstall(host, 'bubblewrap'));
  const version = await askVersion(host, program);
  const { stdout } = await host.run([program, '--help']);
  const flags = new Set(stdout.match(/--[a-z0-9-]+/g));
  const lacks = neededFlags.filter((flag) => !flags.has(flag));
  if (lacks.length === 0) return holds('bubblewrap', `${version} at ${program}`);
  const say = 'Update bubblewrap to 0.10 or newer, or to an older one that your distribution has patched since 2024.';
  return missing('bubblewrap', `${version} at ${program} is too old: it has no ${lacks.join(', ')}`, {
    ...toInstall(host, 'bubblewrap'),
    say,
  });
}

export async function checkRipgrep(host: Host): Promise<HostCheck> {
  const program = host.findProgram('rg');
  if (!program) return missing('ripgrep', 'not installed; grep and glob need it', toInstall(host, 'ripgrep'));
  return holds('ripgrep', `${await askVersion(host, program)} at ${program}`);
}

export async function checkGit(host: Host): Promise<HostCheck> {
  const program = host.findProgram('git');
  if (!program) return weaker('git', 'not installed; agents will miss it', toInstall(host, 'git'));
  return holds('git', `${await askVersion(host, program)} at ${program}`);
}

async function askVersion(host: Host, program: string): Promise<string> {
  const { stdout } = await host.run([program, '--version']);
  return /\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? 'of unknown version';
}
