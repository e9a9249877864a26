import { lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxSpec } from '../../core/commands/sandbox.ts';
import { shownSettings, staticEtc } from '../../host/etc.ts';
import { cachePath, initPath, proxyPath, systemDirectories } from '../../host/places.ts';
import type { Toolchains } from '../../host/toolchains.ts';
import { realpathOf } from '../../lib/workspace-owner.ts';

/** Where the init finds the way to the server. */
export const serverPath = '/run/croft/server.sock';

export interface MountsOptions {
  readonly spec: SandboxSpec;
  readonly init: string;
  readonly serverSocket: string;
  readonly proxySocket: string | undefined;
  /** Of this machine, where its system is shown. Nothing where an image brings its own. */
  readonly toolchains: Toolchains | undefined;
}

/** As the API has them. */
export interface Mount {
  readonly Type: 'bind';
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
  readonly BindOptions: { readonly Propagation: 'rprivate'; readonly NonRecursive: boolean };
}

/** Everything that a container sees of this machine. The last of two at one place is the one. */
export function toMounts({ spec, init, serverSocket, proxySocket, toolchains }: MountsOptions): Mount[] {
  const { cacheDirectory, directory, network, readable, workspacePath } = spec;
  const mounts = [
    ...(toolchains ? showHost(toolchains, network.mode === 'allow-all') : []),
    ...(cacheDirectory === undefined ? [] : [toMount(cacheDirectory, cachePath, { isWritable: true })]),
    ...readable.flatMap((path) => show(path)),
    toMount(init, initPath),
    toMount(serverSocket, serverPath),
    ...(proxySocket === undefined ? [] : [toMount(proxySocket, proxyPath)]),
    // By its name, which is all that an engine takes; the init makes sure that it is the very directory.
    toMount(realpathOf(directory), workspacePath, { isWritable: true }),
  ];
  return [...new Map(mounts.map((mount) => [mount.Target, mount])).values()];
}

/** The system's programs and toolchains, and of /etc what bubblewrap shows. */
function showHost({ directories }: Toolchains, isOpen: boolean): Mount[] {
  const ofEngine = ['hosts'];
  const settings = [...shownSettings].filter(([name, path]) => isThere(path) && !(isOpen && ofEngine.includes(name)));
  return [
    ...systemDirectories
      .filter((path) => isThere(path) && !lstatSync(path).isSymbolicLink())
      .flatMap((path) => show(path)),
    ...settings.flatMap(([name, path]) => show(path, `/etc/${name}`)),
    // An engine puts this machine's there otherwise, and nobody inside could ask what it names.
    ...(isOpen ? [] : [toMount(join(staticEtc, 'resolv.conf'), '/etc/resolv.conf')]),
    ...directories.flatMap((path) => show(path)),
  ];
}

/** Each mount below by itself: an engine makes only the uppermost read-only. */
function show(path: string, as = path): Mount[] {
  const below = mountPoints().filter((point) => point.startsWith(`${path}/`));
  return [toMount(path, as), ...below.map((point) => toMount(point, `${as}${point.slice(path.length)}`))];
}

function toMount(Source: string, Target: string, { isWritable = false } = {}): Mount {
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
