import { cpus } from 'node:os';
import type { SandboxLimits, SandboxSpec } from '../../core/commands/sandbox.ts';
import { initPath, proxyPath, sandboxHome } from '../../host/sandbox-paths.ts';
import type { Owner } from '../../lib/files/workspace-owner.ts';
import { type ContainerMount, serverPath } from './container-mounts.ts';

/** The label by which containers that a server left behind are found. */
export const ownLabel = 'croft.sandbox';

export interface ContainerOptions {
  readonly spec: SandboxSpec;
  readonly image: string;
  readonly mounts: readonly ContainerMount[];
  readonly user: Owner;
  readonly hasProxy: boolean;
  /** `device:inode` of the workspace. */
  readonly identity: string;
}

/**
 * The container's configuration for the engine. The init does the rest: control files, system calls, limits of
 * processes.
 */
export function toContainerConfig({ spec, image, mounts, user, hasProxy, identity }: ContainerOptions): object {
  const { limits, network, workspacePath } = spec;
  return {
    Image: image,
    Entrypoint: [initPath],
    Cmd: [
      ...['--container', serverPath, identity, workspacePath, '0', hasProxy ? proxyPath : '-'],
      (spec.allowControl ?? []).join(','),
    ],
    User: `${user.uid}:${user.gid}`,
    WorkingDir: '/',
    Hostname: 'croft',
    Labels: { [ownLabel]: String(process.pid) },
    HostConfig: {
      Mounts: mounts,
      Tmpfs: toTmpfs(limits),
      ...toLimits(limits),
      ...toIsolationConfig(user),
      // With allow-all, commands have the network of this machine, as with every other provider.
      NetworkMode: network.mode === 'allow-all' ? 'host' : 'none',
      // The container ends with its server, and must not remain after that.
      AutoRemove: true,
      LogConfig: { Type: 'none' },
    },
  };
}

/**
 * Turns off the engine's system call filter and profile, because the init has to make a user namespace to guard the
 * control files. The init loads a filter of its own, which no program gets around, before it starts any.
 */
function toIsolationConfig({ uid }: Owner): object {
  return {
    ReadonlyRootfs: true,
    Privileged: false,
    CapDrop: ['ALL'],
    // The kernel requires it of root to be mapped into a namespace. The init gives it up as well.
    CapAdd: uid === 0 ? ['SETFCAP'] : [],
    SecurityOpt: ['no-new-privileges', 'seccomp=unconfined', 'apparmor=unconfined', 'label=disable'],
    IpcMode: 'private',
    // Files keep the owners of this machine, even where the engine maps its containers to other users.
    UsernsMode: 'host',
  };
}

/** Temporary file systems are in memory, and some memory must stay for programs. */
function toTmpfs({ memoryBytes, diskBytes }: SandboxLimits): Record<string, string> {
  const sized = (part: number) => `size=${Math.round(Math.min(diskBytes, memoryBytes * part))}`;
  const open = 'rw,exec,nosuid,nodev,mode=1777';
  return {
    '/tmp': `${open},${sized(1 / 2)}`,
    [sandboxHome]: `${open},${sized(1 / 4)}`,
  };
}

function toLimits({ memoryBytes, processes, cpus: wanted }: SandboxLimits): object {
  return {
    Memory: memoryBytes,
    MemorySwap: memoryBytes,
    PidsLimit: processes,
    // The engine refuses more processors than there are.
    NanoCpus: Math.round(Math.min(wanted, cpus().length) * 1e9),
    ShmSize: Math.round(Math.min(64 * 1024 * 1024, memoryBytes / 8)),
  };
}
