import { readFileSync, readlinkSync } from 'node:fs';
import type { Escape } from './escape.ts';
import { toProberEscape } from './run-prober.ts';
import { toVerdict } from './to-verdict.ts';

const kinds = ['cgroup', 'ipc', 'mnt', 'pid', 'user', 'uts'] as const;

/** Landlock forbids mounts to the processes it restricts. */
const mountGuards = ['system-calls', 'landlock', 'capabilities'] as const;

/** Attempts to get another view of the machine than the sandbox's own. */
export const kernelNamespaces: readonly Escape[] = [
  toProberEscape({ id: 'B27', title: 'a user namespace of its own', guards: ['system-calls'] }, [
    'unshare-user',
    'clone-user',
    'clone3-user',
  ]),
  toProberEscape({ id: 'B28', title: 'a mount of its own', guards: mountGuards }, ['mount']),
  toProberEscape(
    { id: 'B28b', title: 'taking a mount away from what it covers', guards: mountGuards },
    ({ inside }) => ['umount /proc', `umount ${inside}`],
  ),
  toProberEscape({ id: 'B28c', title: 'another root', guards: mountGuards }, ['pivot-root', 'chroot']),
  toProberEscape({ id: 'B28d', title: 'entering a namespace', guards: mountGuards }, ['setns', 'sethostname']),
  toProberEscape({ id: 'B28e', title: 'the newer calls for mounts', guards: mountGuards }, [
    'open-tree',
    'move-mount',
    'fsopen',
    'mount-setattr',
  ]),
  {
    id: 'B37b',
    title: 'seeing or signalling a process outside',
    guards: ['namespaces', 'init'],
    async attempt(fixture) {
      const own = readFileSync('/proc/self/cmdline', 'latin1').replaceAll('\0', ' ').trim();
      const { output } = await fixture.run(`for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $file; echo; done`);
      const isSeen = output.split('\n').some((line) => line.trim() === own);
      return toVerdict(isSeen && 'the server is among the processes that can be seen');
    },
  },
  {
    id: 'B37c',
    title: 'a namespace shared with the machine',
    guards: ['namespaces'],
    async attempt(fixture) {
      const { output } = await fixture.run(`cd /proc/self/ns && readlink ${kinds.join(' ')}`);
      const inside = output.trimEnd().split('\n');
      const shared = kinds.filter((kind, index) => readlinkSync(`/proc/self/ns/${kind}`) === inside[index]);
      if (inside.length !== kinds.length) throw new Error(`readlink said ${output}`);
      return toVerdict(shared.length > 0 && `shared: ${shared.join(', ')}`);
    },
  },
];
