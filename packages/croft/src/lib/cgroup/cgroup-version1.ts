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

export function findVersion1(own: string, options: GroupsOptions): Groups | undefined {
  const { name, total } = options;
  const controllers = ['memory', 'pids', 'cpu'] as const;
  const bases = controllers.map((controller) => locateVersion1(own, controller));
  const [memory, pids, cpu] = bases;
  if (memory === undefined || pids === undefined || cpu === undefined) return undefined;
  const parents = [
    createParent(memory, name, (path) => {
      // Old kernels do not count what is below otherwise.
      tryPut(path, 'memory.use_hierarchy', 1);
      limitMemory(path, total.memoryBytes, tryPut);
    }),
    createParent(pids, name, (path) => tryPut(path, 'pids.max', total.processes)),
    createParent(cpu, name, () => {}),
  ];
  return { version: 1, create: createWithin(parents, options, createGroup) };
}

/** The directory of our own group for a controller, if it can have groups below. */
function locateVersion1(own: string, controller: string): string | undefined {
  const line = own.split('\n').find((row) => row.split(':')[1]?.split(',').includes(controller));
  const path = line?.split(':').slice(2).join(':');
  return locateGroup(path, ({ kind, options }) => kind === 'cgroup' && options.includes(controller));
}

function refusalsOf(memory: string, pids: string): ReturnType<Group['refusals']> {
  return {
    memoryKills: counter(get(memory, 'memory.oom_control'), 'oom_kill'),
    refusedForks: counter(get(pids, 'pids.events'), 'max'),
  };
}

/** Of a group that somebody else made, by what the kernel says of a process in it. */
export function observeVersion1(of: string): Pick<Group, 'refusals'> | undefined {
  const [memory, pids] = [locateVersion1(of, 'memory'), locateVersion1(of, 'pids')];
  return memory === undefined || pids === undefined ? undefined : { refusals: () => refusalsOf(memory, pids) };
}

function limitMemory(directory: string, bytes: number, set = put): void {
  set(directory, 'memory.limit_in_bytes', bytes);
  // Swap counts too, where the kernel counts it.
  tryPut(directory, 'memory.memsw.limit_in_bytes', bytes);
}

function createGroup(directories: readonly string[], limits: GroupLimits): Omit<Group, 'remove'> {
  const [memory = '', pids = '', cpu = ''] = directories;
  makeWith(directories, () => {
    limitMemory(memory, limits.memoryBytes);
    put(pids, 'pids.max', limits.processes);
    put(cpu, 'cpu.cfs_quota_us', Math.round(limits.cpus * periodUs));
  });
  const refusals = () => refusalsOf(memory, pids);
  return {
    doors: directories.map((directory) => `${directory}/tasks`),
    add: (pid) => moveInto(directories, pid),
    usage: () => ({
      memoryBytes: Number(get(memory, 'memory.usage_in_bytes')),
      processes: Number(get(pids, 'pids.current')),
      ...refusals(),
    }),
    refusals,
  };
}
