import { lstatSync, readlinkSync, statSync } from 'node:fs';
import type { SandboxSpec } from '../../core/commands/sandbox.ts';
import { shownSettings } from '../../host/etc.ts';
import { cachePath, home, initPath, proxyPath, systemDirectories } from '../../host/places.ts';
import type { Toolchains } from '../../host/toolchains.ts';
import { createRecent } from '../../lib/recent.ts';

const recentSystem = createRecent<string[]>();

const resolverSettings = ['resolv.conf', 'hosts', 'gai.conf'];

export interface FenceOptions {
  readonly spec: SandboxSpec;
  readonly toolchains: Toolchains;
  readonly init: string;
  readonly proxySocket?: string | undefined;
  /** A directory that has all that is shown of /etc. */
  readonly etc?: string | undefined;
}

/** What bubblewrap is told. The init does the rest: control files, privileges, system calls, limits. */
export function toFence({ spec, toolchains, init, proxySocket, etc }: FenceOptions): string[] {
  const { workspacePath, limits, network, readable, cacheDirectory } = spec;
  const isOpen = network.mode === 'allow-all';
  // What is in them is memory, and some of that must stay for programs.
  const sized = (part: number, most = limits.diskBytes) => [
    '--size',
    String(Math.round(Math.min(most, limits.memoryBytes * part))),
  ];
  return [
    ...['--unshare-all', '--unshare-user', '--uid', '1000', '--gid', '1000', '--hostname', 'croft'],
    ...(isOpen ? ['--share-net'] : []),
    ...['--as-pid-1', '--die-with-parent', '--new-session', '--clearenv'],
    // For the init alone, which gives them up before it starts anything.
    ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN', '--cap-add', 'CAP_SETPCAP'],
    ...recentSystem(() => systemDirectories.flatMap(showSystem)),
    ...showSettings(isOpen ? undefined : etc),
    ...(isOpen ? resolverSettings.flatMap((name) => showIfThere(`/etc/${name}`)) : []),
    ...toolchains.directories.flatMap((path) => showIfThere(path)),
    ...['--proc', '/proc', '--dev', '/dev', ...sized(1 / 8, 64 * 1024 * 1024), '--tmpfs', '/dev/shm'],
    ...['--remount-ro', '/dev', '--remount-ro', '/proc'],
    ...[
      ...sized(1 / 2),
      '--tmpfs',
      '/tmp',
      ...sized(1 / 4),
      '--tmpfs',
      home,
      '--dir',
      '/var',
      '--symlink',
      '../tmp',
      '/var/tmp',
    ],
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

/** By one mount if there is a directory for it. With the resolver's settings beside them they are mounted one by one. */
function showSettings(etc: string | undefined): string[] {
  if (etc !== undefined) return ['--ro-bind', etc, '/etc'];
  return [...shownSettings].flatMap(([name, source]) => showIfThere(source, `/etc/${name}`));
}

function showSystem(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

function showIfThere(path: string, as = path): string[] {
  return statSync(path, { throwIfNoEntry: false }) ? ['--ro-bind', path, as] : [];
}
