import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import type { SandboxSpec } from '../../core/commands/sandbox.ts';
import { visibleEtcEntries } from '../../host/etc-copy.ts';
import {
  cachePath,
  initPath,
  nscdDirectory,
  proxyPath,
  sandboxHome,
  systemDirectories,
  userLimitsPath,
  userLimitsSource,
} from '../../host/sandbox-paths.ts';
import type { HostTools } from '../../host/toolchains/host-tools.ts';
import { createShortLivedCache } from '../../lib/concurrency/short-lived-cache.ts';

const recentSystem = createShortLivedCache<string[]>();

const resolverSettings = ['resolv.conf', 'hosts', 'gai.conf'];

interface BwrapArgumentsOptions {
  readonly spec: SandboxSpec;
  readonly tools: HostTools;
  readonly init: string;
  readonly proxySocket?: string | undefined;
  /** A directory that contains everything that is shown of /etc. */
  readonly etc?: string | undefined;
}

/**
 * The arguments for bubblewrap: namespaces and mounts. The init does the rest: control files, privileges, system calls,
 * limits.
 */
export function toBwrapArguments({ spec, tools, init, proxySocket, etc }: BwrapArgumentsOptions): string[] {
  const { workspacePath, limits, network, readable, cacheDirectory } = spec;
  const isOpen = network.mode === 'allow-all';
  // Temporary file systems are in memory, and some memory must stay for programs.
  const sized = (part: number, most = limits.diskBytes) => [
    '--size',
    String(Math.round(Math.min(most, limits.memoryBytes * part))),
  ];
  return [
    ...['--unshare-all', '--unshare-user', '--uid', '1000', '--gid', '1000', '--hostname', 'croft'],
    ...(isOpen ? ['--share-net'] : []),
    ...['--as-pid-1', '--die-with-parent', '--new-session', '--clearenv'],
    // Capabilities for the init alone, which gives them up before it starts anything.
    ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN', '--cap-add', 'CAP_SETPCAP'],
    ...['--cap-add', 'CAP_SYS_PTRACE', '--cap-add', 'CAP_SYS_RESOURCE'],
    ...recentSystem(() => systemDirectories.flatMap(showSystem)),
    ...showSettings(isOpen ? undefined : etc),
    ...(isOpen ? resolverSettings.flatMap((name) => showIfThere(`/etc/${name}`)) : []),
    ...['--proc', '/proc', '--dev', '/dev', ...sized(1 / 8, 64 * 1024 * 1024), '--tmpfs', '/dev/shm'],
    ...['--remount-ro', '/dev', '--remount-ro', '/proc'],
    ...[
      ...sized(1 / 2),
      '--tmpfs',
      '/tmp',
      ...sized(1 / 4),
      '--tmpfs',
      sandboxHome,
      '--dir',
      '/var',
      '--symlink',
      '../tmp',
      '/var/tmp',
    ],
    ...(network.mode === 'deny-all' ? ['--size', '65536', '--tmpfs', nscdDirectory] : []),
    ...(cacheDirectory === undefined ? [] : ['--bind', cacheDirectory, cachePath]),
    // After the sandbox's own mounts, so that its /tmp does not hide a directory below /tmp.
    ...tools.directories.flatMap((path) => showIfThere(path)),
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...tools.files.flatMap(({ source, target }) => showIfThere(source, target)),
    ...['--ro-bind', init, initPath],
    ...(existsSync(userLimitsSource) ? ['--bind', userLimitsSource, userLimitsPath] : []),
    ...(proxySocket === undefined ? [] : ['--ro-bind', proxySocket, proxyPath]),
    // Mounts the workspace by its open descriptor; bubblewrap verifies that this is what it mounted.
    ...[spec.isReadOnly ? '--ro-bind-fd' : '--bind-fd', '6', workspacePath, '--chdir', workspacePath],
    ...['--remount-ro', '/'],
  ];
}

/** Uses one mount if there is a directory for it. With the resolver's settings, files are mounted one by one. */
function showSettings(etc: string | undefined): string[] {
  if (etc !== undefined) return ['--ro-bind', etc, '/etc'];
  return [...visibleEtcEntries].flatMap(([name, source]) => showIfThere(source, `/etc/${name}`));
}

function showSystem(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

function showIfThere(path: string, as = path): string[] {
  return statSync(path, { throwIfNoEntry: false }) ? ['--ro-bind', path, as] : [];
}
