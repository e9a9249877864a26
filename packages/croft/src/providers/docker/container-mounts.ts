import { lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxSpec } from '../../core/commands/sandbox.ts';
import { ownEtcDirectory, visibleEtcEntries } from '../../host/etc-copy.ts';
import {
  cachePath,
  initPath,
  proxyPath,
  systemDirectories,
  userLimitsPath,
  userLimitsSource,
} from '../../host/sandbox-paths.ts';
import type { HostTools } from '../../host/toolchains/host-tools.ts';
import { realpathOf } from '../../lib/files/workspace-owner.ts';

/** The path in a container at which the init connects to the server. */
export const serverPath = '/run/croft/server.sock';

interface MountsOptions {
  readonly spec: SandboxSpec;
  readonly init: string;
  readonly serverSocket: string;
  readonly proxySocket: string | undefined;
  /** The toolchains of this machine, if its system is mounted. `undefined` if an image brings its own. */
  readonly tools: HostTools | undefined;
}

/** A mount in the format of the Docker API. */
export interface ContainerMount {
  readonly Type: 'bind';
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
  readonly BindOptions: { readonly Propagation: 'rprivate'; readonly NonRecursive: boolean };
}

/**
 * Returns the mounts of a container: all files of this machine that it sees. If two mounts have the same target, the
 * last one counts.
 */
export function toContainerMounts({ spec, init, serverSocket, proxySocket, tools }: MountsOptions): ContainerMount[] {
  const { cacheDirectory, directoryFd, network, readable } = spec;
  const mounts = [
    ...(tools ? showHost(tools, network.mode === 'allow-all') : []),
    ...(cacheDirectory === undefined ? [] : [toMount(cacheDirectory, cachePath, { isWritable: true })]),
    ...readable.flatMap((path) => show(path)),
    toMount(init, initPath),
    toMount(serverSocket, serverPath),
    ...(isThere(userLimitsSource) ? [toMount(userLimitsSource, userLimitsPath, { isWritable: true })] : []),
    ...(proxySocket === undefined ? [] : [toMount(proxySocket, proxyPath)]),
    // Mounts the workspace by its path, because an engine takes nothing else. The init verifies that it is the same
    // directory.
    ...showWorkspace(realpathOf(directoryFd), spec),
  ];
  return [...new Map(mounts.map((mount) => [mount.Target, mount])).values()];
}

function showWorkspace(path: string, { workspacePath, isReadOnly }: SandboxSpec): ContainerMount[] {
  return isReadOnly ? show(path, workspacePath) : [toMount(path, workspacePath, { isWritable: true })];
}

/** Mounts the system's programs and toolchains, and the same files of /etc as with bubblewrap. */
function showHost({ directories, files }: HostTools, isOpen: boolean): ContainerMount[] {
  const ofEngine = ['hosts'];
  const settings = [...visibleEtcEntries].filter(
    ([name, path]) => isThere(path) && !(isOpen && ofEngine.includes(name)),
  );
  return [
    ...systemDirectories
      .filter((path) => isThere(path) && !lstatSync(path).isSymbolicLink())
      .flatMap((path) => show(path)),
    ...settings.flatMap(([name, path]) => show(path, `/etc/${name}`)),
    // Otherwise the engine mounts this machine's own file, whose name servers cannot be reached from inside.
    ...(isOpen ? [] : [toMount(join(ownEtcDirectory, 'resolv.conf'), '/etc/resolv.conf')]),
    ...directories.flatMap((path) => show(path)),
    ...files.map(({ source, target }) => toMount(source, target)),
  ];
}

/** Lists each mount below `path` separately, because an engine makes only the topmost one read-only. */
function show(path: string, as = path): ContainerMount[] {
  const below = mountPoints().filter((point) => point.startsWith(`${path}/`));
  return [toMount(path, as), ...below.map((point) => toMount(point, `${as}${point.slice(path.length)}`))];
}

function toMount(Source: string, Target: string, { isWritable = false } = {}): ContainerMount {
  return {
    Type: 'bind',
    ...{ Source, Target, ReadOnly: !isWritable },
    BindOptions: { Propagation: 'rprivate', NonRecursive: !isWritable },
  };
}

function mountPoints(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n');
  const points = lines.map((line) => line.split(' ')[4] ?? '');
  return points.map((point) =>
    point.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))),
  );
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
