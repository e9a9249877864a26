import { existsSync } from 'node:fs';
import {
  createGroupFactory,
  type Group,
  type GroupLimits,
  type Groups,
  type GroupsOptions,
  periodUs,
} from './group.ts';
import {
  createGroupParent,
  makeGroupDirectories,
  moveProcess,
  readCounter,
  readProcessIds,
  readSetting,
  setCpuIdle,
  tryWriteSetting,
  writeSetting,
} from './group-directory.ts';
import { locateVersion1 } from './locate-group.ts';
import { outOfServerGroup } from './put-server-first.ts';

const controllers = ['memory', 'pids', 'cpu', 'cpuacct'] as const;

export function findVersion1(own: string, options: GroupsOptions): Groups | undefined {
  const { name, total } = options;
  const [memory, pids, cpu, cpuacct] = controllers.map((controller) =>
    outOfServerGroup(locateVersion1(own, controller)),
  );
  if (memory === undefined || pids === undefined || cpu === undefined) return undefined;
  const parents = [
    createGroupParent(memory, name, (path) => {
      // Old kernels would otherwise not count the groups below.
      tryWriteSetting(path, 'memory.use_hierarchy', 1);
      limitMemory(path, total.memoryBytes, tryWriteSetting);
    }),
    createGroupParent(pids, name, (path) => tryWriteSetting(path, 'pids.max', total.processes)),
    createGroupParent(cpu, name, () => {}),
    // Most hosts count processor time in the same hierarchy as cpu.
    ...(cpuacct === undefined || cpuacct === cpu ? [] : [createGroupParent(cpuacct, name, () => {})]),
  ];
  return { version: 1, create: createGroupFactory(parents, options, createGroup) };
}

function refusalsOf(memory: string, pids: string): ReturnType<Group['refusals']> {
  return {
    memoryKills: readCounter(readSetting(memory, 'memory.oom_control'), 'oom_kill'),
    refusedForks: readCounter(readSetting(pids, 'pids.events'), 'max'),
  };
}

/**
 * Reads the refusals of a group that another program made, found by the `/proc/<pid>/cgroup` text of a process in it.
 */
export function observeVersion1(of: string): Pick<Group, 'refusals'> | undefined {
  const [memory, pids] = [locateVersion1(of, 'memory'), locateVersion1(of, 'pids')];
  return memory === undefined || pids === undefined ? undefined : { refusals: () => refusalsOf(memory, pids) };
}

function limitMemory(directory: string, bytes: number, set = writeSetting): void {
  set(directory, 'memory.limit_in_bytes', bytes);
  // Limits memory and swap together, where the kernel counts swap.
  tryWriteSetting(directory, 'memory.memsw.limit_in_bytes', bytes);
}

function createGroup(directories: readonly string[], limits: GroupLimits): Omit<Group, 'remove'> {
  const [memory = '', pids = '', cpu = '', cpuacct = cpu] = directories;
  makeGroupDirectories(directories, () => {
    limitMemory(memory, limits.memoryBytes);
    writeSetting(pids, 'pids.max', limits.processes);
    writeSetting(cpu, 'cpu.cfs_quota_us', Math.round(limits.cpus * periodUs));
  });
  const refusals = () => refusalsOf(memory, pids);
  const hasUsage = existsSync(`${cpuacct}/cpuacct.usage`);
  return {
    processorMs: hasUsage ? () => Number(readSetting(cpuacct, 'cpuacct.usage')) / 1e6 : undefined,
    giveWay: (isLast) => setCpuIdle(cpu, 'cpu.shares', isLast ? 2 : 1024, isLast),
    selfEntryFiles: directories.map((directory) => `${directory}/tasks`),
    add: (pid) => moveProcess(directories, pid),
    processIds: () => readProcessIds(pids),
    usage: () => ({
      memoryBytes: Number(readSetting(memory, 'memory.usage_in_bytes')),
      processes: Number(readSetting(pids, 'pids.current')),
      ...refusals(),
    }),
    refusals,
  };
}
