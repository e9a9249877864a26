import { cpus } from 'node:os';
import type { SandboxLimits, SandboxSpec } from '../../core/commands/sandbox.ts';
import { home, initPath, proxyPath } from '../../host/places.ts';
import type { Owner } from '../../lib/workspace-owner.ts';
import { type Mount, serverPath } from './mounts.ts';

/** By which what a server left behind is found again. */
export const ownLabel = 'croft.sandbox';

export interface ContainerOptions {
  readonly spec: SandboxSpec;
  readonly image: string;
  readonly mounts: readonly Mount[];
  readonly user: Owner;
  readonly hasProxy: boolean;
  /** `device:inode` of the workspace. */
  readonly identity: string;
}

/** What an engine is told. The init does the rest: control files, system calls, limits of processes. */
export function toContainer({ spec, image, mounts, user, hasProxy, identity }: ContainerOptions): object {
  const { limits, network, workspacePath } = spec;
  return {
    Image: image,
    Entrypoint: [initPath],
    Cmd: ['--container', serverPath, identity, workspacePath, '0', ...(hasProxy ? [proxyPath] : [])],
    User: `${user.uid}:${user.gid}`,
    WorkingDir: '/',
    Hostname: 'croft',
    Labels: { [ownLabel]: String(process.pid) },
    HostConfig: {
      Mounts: mounts,
      Tmpfs: toTmpfs(limits),
      ...toLimits(limits),
      ...toFence(user),
      // With allow-all commands have the network of this machine, as they have with every other provider.
      NetworkMode: network.mode === 'allow-all' ? 'host' : 'none',
      // It ends when its server does, and must not be there after that.
      AutoRemove: true,
      LogConfig: { Type: 'none' },
    },
  };
}

/**
 * The filter of system calls and the profile of an engine are in the way of the init, which makes a user namespace to
 * hold the control files; it loads a filter of its own before it starts anything, and none of its programs gets by it.
 */
function toFence({ uid }: Owner): object {
  return {
    ReadonlyRootfs: true,
    Privileged: false,
    CapDrop: ['ALL'],
    // The kernel asks it of root, who may not be mapped into a namespace otherwise. The init gives it up as well.
    CapAdd: uid === 0 ? ['SETFCAP'] : [],
    SecurityOpt: ['no-new-privileges', 'seccomp=unconfined', 'apparmor=unconfined', 'label=disable'],
    IpcMode: 'private',
    // Files have the owners that this machine says, also where an engine gives others to its containers.
    UsernsMode: 'host',
  };
}

/** What is in them is memory, and some of that must stay for programs. */
function toTmpfs({ memoryBytes, diskBytes }: SandboxLimits): Record<string, string> {
  const sized = (part: number) => `size=${Math.round(Math.min(diskBytes, memoryBytes * part))}`;
  const open = 'rw,exec,nosuid,nodev,mode=1777';
  return {
    '/tmp': `${open},${sized(1 / 2)}`,
    [home]: `${open},${sized(1 / 4)}`,
  };
}

function toLimits({ memoryBytes, processes, cpus: wanted }: SandboxLimits): object {
  return {
    Memory: memoryBytes,
    MemorySwap: memoryBytes,
    PidsLimit: processes,
    // More than there are is refused.
    NanoCpus: Math.round(Math.min(wanted, cpus().length) * 1e9),
    ShmSize: Math.round(Math.min(64 * 1024 * 1024, memoryBytes / 8)),
  };
}
