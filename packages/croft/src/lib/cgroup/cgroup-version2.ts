import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { counter, createParent, get, makeWith, moveInto, put, tryPut } from './cgroup-directory.ts';
import { locateGroup } from './cgroup-mount.ts';
import {
  createWithin,
  type Group,
  type GroupLimits,
  type Groups,
  type GroupsOptions,
  periodUs,
} from './cgroup-parts.ts';

const controllers = ['memory', 'pids', 'cpu'] as const;
const handOn = controllers.map((controller) => `+${controller}`).join(' ');
/** Where a server is that had to make room for groups beside it. */
const leafName = 'croft-server';

export function findVersion2(own: string, options: GroupsOptions): Groups | undefined {
  const { name, total } = options;
  const base = locateVersion2(own);
  if (base === undefined) return undefined;
  mustOffer(base);
  delegate(base);
  const parent = createParent(base, name, (directory) => {
    put(directory, 'cgroup.subtree_control', handOn);
    tryPut(directory, 'memory.max', total.memoryBytes);
    tryPut(directory, 'memory.swap.max', 0);
    tryPut(directory, 'pids.max', total.processes);
  });
  return { version: 2, create: createWithin([parent], options, createGroup) };
}

/** Our own group, or the one above where we, or who started us, moved down from it. */
function locateVersion2(own: string): string | undefined {
  const path = /^0::(.*)$/m.exec(own)?.[1];
  const group = path !== undefined && basename(path) === leafName ? dirname(path) : path;
  return locateGroup(group, ({ kind }) => kind === 'cgroup2');
}

function mustOffer(base: string): void {
  const offered = get(base, 'cgroup.controllers').split(/\s+/);
  const missing = controllers.filter((controller) => !offered.includes(controller));
  if (missing.length > 0) throw new Error(`its group is not given the controllers it needs: no ${missing.join(', ')}`);
}

function refusalsOf(directory: string): ReturnType<Group['refusals']> {
  return {
    memoryKills: counter(get(directory, 'memory.events'), 'oom_kill'),
    refusedForks: counter(get(directory, 'pids.events'), 'max'),
  };
}

/** Of a group that somebody else made, by what the kernel says of a process in it. */
export function observeVersion2(of: string): Pick<Group, 'refusals'> | undefined {
  const directory = locateVersion2(of);
  return directory === undefined ? undefined : { refusals: () => refusalsOf(directory) };
}

/**
 * A group with processes of its own cannot hand controllers on: ours moves down first, if there is no other. In a
 * container the one that started us, and has nothing else to do, comes along.
 */
function delegate(base: string): void {
  try {
    put(base, 'cgroup.subtree_control', handOn);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EBUSY')) throw thrown;
    const inside = get(base, 'cgroup.procs').split('\n');
    const own = [process.pid, ...(process.ppid === 1 && inside.includes('1') ? [1] : [])];
    const others = inside.filter((pid) => pid !== '' && !own.includes(Number(pid)));
    if (others.length > 0) throw new Error('EBUSY: other processes are in its group');
    const leaf = join(base, leafName);
    mkdirSync(leaf, { recursive: true });
    for (const pid of own) put(leaf, 'cgroup.procs', pid);
    put(base, 'cgroup.subtree_control', handOn);
  }
}

function createGroup([directory = '']: readonly string[], limits: GroupLimits): Omit<Group, 'remove'> {
  makeWith([directory], () => {
    put(directory, 'memory.max', limits.memoryBytes);
    tryPut(directory, 'memory.swap.max', 0);
    put(directory, 'pids.max', limits.processes);
    put(directory, 'cpu.max', `${Math.round(limits.cpus * periodUs)} ${periodUs}`);
  });
  const refusals = () => refusalsOf(directory);
  return {
    add: (pid) => moveInto([directory], pid),
    usage: () => ({
      memoryBytes: Number(get(directory, 'memory.current')),
      processes: Number(get(directory, 'pids.current')),
      ...refusals(),
    }),
    refusals,
  };
}
