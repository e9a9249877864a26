import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { counter, createParent, get, makeWith, moveInto, put, tryPut } from './cgroup-directory.ts';
import {
  createWithin,
  type Group,
  type GroupLimits,
  type Groups,
  type GroupsOptions,
  periodUs,
} from './cgroup-parts.ts';

export function findVersion2(own: string, options: GroupsOptions): Groups | undefined {
  const { name, total } = options;
  const path = /^0::(.*)$/m.exec(own)?.[1];
  const mount = / (\/\S*) \S+ (?:\S+ )*?- cgroup2 /.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
  if (path === undefined || mount === undefined) return undefined;
  const base = join(mount, path);
  const offered = get(base, 'cgroup.controllers').split(/\s+/);
  if (!['memory', 'pids', 'cpu'].every((controller) => offered.includes(controller))) return undefined;
  delegate(base);
  const parent = createParent(base, name, (directory) => {
    put(directory, 'cgroup.subtree_control', '+memory +pids +cpu');
    tryPut(directory, 'memory.max', total.memoryBytes);
    tryPut(directory, 'pids.max', total.processes);
  });
  return { version: 2, create: createWithin([parent], options, createGroup) };
}

/** A group with processes of its own cannot hand controllers on: ours moves down first. */
function delegate(base: string): void {
  try {
    put(base, 'cgroup.subtree_control', '+memory +pids +cpu');
  } catch {
    const leaf = join(base, 'croft-server');
    mkdirSync(leaf, { recursive: true });
    put(leaf, 'cgroup.procs', process.pid);
    put(base, 'cgroup.subtree_control', '+memory +pids +cpu');
  }
}

function createGroup([directory = '']: readonly string[], limits: GroupLimits): Omit<Group, 'remove'> {
  makeWith([directory], () => {
    put(directory, 'memory.max', limits.memoryBytes);
    tryPut(directory, 'memory.swap.max', 0);
    put(directory, 'pids.max', limits.processes);
    put(directory, 'cpu.max', `${Math.round(limits.cpus * periodUs)} ${periodUs}`);
  });
  const refusals = () => ({
    memoryKills: counter(get(directory, 'memory.events'), 'oom_kill'),
    refusedForks: counter(get(directory, 'pids.events'), 'max'),
  });
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
