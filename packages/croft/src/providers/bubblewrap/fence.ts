import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxSpec } from '../../core/sandbox.ts';
import type { Toolchains } from './toolchains.ts';

const staticEtc = join(import.meta.dirname, '../../../native/etc');
export const home = '/home/croft';
/** Where the init and the socket of the proxy are inside. */
export const initPath = '/run/croft/init';
export const proxyPath = '/run/croft/proxy.sock';
/** Where package managers keep what they fetched. */
export const cachePath = `${home}/.cache`;

/** The system's programs. Where these are links into /usr they become links again. */
const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** What programs look for in /etc, and nothing that is about this machine or its people. */
const systemSettings = [
  ...['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types', 'protocols', 'services'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'pki/tls', 'pki/ca-trust', 'crypto-policies', 'fonts'],
  ...['java-17-openjdk', 'java-21-openjdk', 'maven', 'gradle', 'python3', 'perl', 'R', 'php', 'terminfo', 'magic'],
];
const ownSettings = ['passwd', 'group', 'hosts', 'nsswitch.conf', 'gitconfig'];
const resolverSettings = ['resolv.conf', 'hosts', 'gai.conf'];

export interface FenceOptions {
  readonly spec: SandboxSpec;
  readonly toolchains: Toolchains;
  readonly init: string;
  readonly proxySocket?: string | undefined;
}

/** What bubblewrap is told. The init does the rest: control files, privileges, system calls, limits. */
export function toFence({ spec, toolchains, init, proxySocket }: FenceOptions): string[] {
  const { workspacePath, limits, network, readable, cacheDirectory } = spec;
  const isOpen = network.mode === 'allow-all';
  const small = ['--size', String(64 * 1024 * 1024)];
  const sized = ['--size', String(Math.min(limits.diskBytes, limits.memoryBytes))];
  return [
    ...['--unshare-all', '--unshare-user', '--uid', '1000', '--gid', '1000', '--hostname', 'croft'],
    ...(isOpen ? ['--share-net'] : []),
    ...['--as-pid-1', '--die-with-parent', '--new-session', '--clearenv'],
    // For the init alone, which gives them up before it starts anything.
    ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN', '--cap-add', 'CAP_SETPCAP'],
    ...systemDirectories.flatMap(showSystem),
    ...systemSettings.flatMap((name) => showIfThere(`/etc/${name}`)),
    ...ownSettings.flatMap((name) => ['--ro-bind', join(staticEtc, name), `/etc/${name}`]),
    ...(isOpen ? resolverSettings.flatMap((name) => showIfThere(`/etc/${name}`)) : []),
    ...toolchains.directories.flatMap(showIfThere),
    ...['--proc', '/proc', '--dev', '/dev', ...small, '--tmpfs', '/dev/shm'],
    ...['--remount-ro', '/dev', '--remount-ro', '/proc'],
    ...[...sized, '--tmpfs', '/tmp', ...sized, '--tmpfs', home, '--dir', '/var', '--symlink', '../tmp', '/var/tmp'],
    ...(cacheDirectory === undefined ? [] : ['--bind', cacheDirectory, cachePath]),
    // After the sandbox's own, so that one below /tmp is not hidden by it.
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...['--ro-bind', init, initPath],
    ...(proxySocket === undefined ? [] : ['--ro-bind', proxySocket, proxyPath]),
    // By the handle itself; bubblewrap makes sure that this is what it mounted.
    ...['--bind-fd', '6', workspacePath, '--chdir', workspacePath],
    ...['--remount-ro', '/'],
  ];
}

function showSystem(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

function showIfThere(path: string): string[] {
  return statSync(path, { throwIfNoEntry: false }) ? ['--ro-bind', path, path] : [];
}
