import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
import { locateGroup } from './locate-group.ts';

const controllers = ['memory', 'pids', 'cpu'] as const;
const enableControllers = controllers.map((controller) => `+${controller}`).join(' ');
/** Group into which a server moves when it has to leave its own group to make groups beside itself. */
const leafName = 'croft-server';
/**
 * The weight of that group beside the common group of all sandboxes, which has 100: a server that competes with them gets
 * ten times their processor time. An order, as version 1 has it, is impossible: `cpu.idle` of the common group would
 * put it behind every other program of the machine too.
 */
const serverWeight = 1000;

export function findVersion2(own: string, options: GroupsOptions): Groups | undefined {
  const { name, total } = options;
  const base = locateVersion2(own);
  if (base === undefined) return undefined;
  requireControllers(base);
  delegate(base);
  // The group does not exist if this process stays where it is: at the top, or with other groups below its own.
  tryWriteSetting(join(base, leafName), 'cpu.weight', serverWeight);
  const parent = createGroupParent(base, name, (directory) => {
    writeSetting(directory, 'cgroup.subtree_control', enableControllers);
    tryWriteSetting(directory, 'memory.max', total.memoryBytes);
    tryWriteSetting(directory, 'memory.swap.max', 0);
    tryWriteSetting(directory, 'pids.max', total.processes);
  });
  return { version: 2, create: createGroupFactory([parent], options, createGroup) };
}

/**
 * Returns the group of this process, or its parent if this process, or the one that started it, has moved down into
 * `croft-server`.
 */
function locateVersion2(own: string): string | undefined {
  const path = /^0::(.*)$/m.exec(own)?.[1];
  const group = path !== undefined && basename(path) === leafName ? dirname(path) : path;
  return locateGroup(group, ({ kind }) => kind === 'cgroup2');
}

function requireControllers(base: string): void {
  const available = readSetting(base, 'cgroup.controllers').split(/\s+/);
  const missing = controllers.filter((controller) => !available.includes(controller));
  if (missing.length > 0) throw new Error(`its control group lacks these controllers: ${missing.join(', ')}`);
}

function refusalsOf(directory: string): ReturnType<Group['refusals']> {
  return {
    memoryKills: readCounter(readSetting(directory, 'memory.events'), 'oom_kill'),
    refusedForks: readCounter(readSetting(directory, 'pids.events'), 'max'),
  };
}

/**
 * Reads the refusals of a group that another program made, found by the `/proc/<pid>/cgroup` text of a process in it.
 */
export function observeVersion2(of: string): Pick<Group, 'refusals'> | undefined {
  const directory = locateVersion2(of);
  return directory === undefined ? undefined : { refusals: () => refusalsOf(directory) };
}

/**
 * Enables the controllers for the groups below. The kernel refuses that for a group that has processes of its own, so
 * this process first moves down, if it is alone in the group. In a container the idle process 1 that started it moves
 * too.
 */
function delegate(base: string): void {
  try {
    writeSetting(base, 'cgroup.subtree_control', enableControllers);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EBUSY')) throw thrown;
    const inside = readSetting(base, 'cgroup.procs').split('\n');
    const own = [process.pid, ...(process.ppid === 1 && inside.includes('1') ? [1] : [])];
    const others = inside.filter((pid) => pid !== '' && !own.includes(Number(pid)));
    if (others.length > 0) throw new Error('EBUSY: its control group has other processes in it');
    const leaf = join(base, leafName);
    mkdirSync(leaf, { recursive: true });
    for (const pid of own) writeSetting(leaf, 'cgroup.procs', pid);
    writeSetting(base, 'cgroup.subtree_control', enableControllers);
  }
}

function createGroup([directory = '']: readonly string[], limits: GroupLimits): Omit<Group, 'remove'> {
  makeGroupDirectories([directory], () => {
    writeSetting(directory, 'memory.max', limits.memoryBytes);
    tryWriteSetting(directory, 'memory.swap.max', 0);
    writeSetting(directory, 'pids.max', limits.processes);
    writeSetting(directory, 'cpu.max', `${Math.round(limits.cpus * periodUs)} ${periodUs}`);
  });
  const refusals = () => refusalsOf(directory);
  return {
    processorMs: () => readCounter(readSetting(directory, 'cpu.stat'), 'usage_usec') / 1000,
    giveWay: (isLast) => setCpuIdle(directory, 'cpu.weight', isLast ? 1 : 100, isLast),
    add: (pid) => moveProcess([directory], pid),
    processIds: () => readProcessIds(directory),
    usage: () => ({
      memoryBytes: Number(readSetting(directory, 'memory.current')),
      processes: Number(readSetting(directory, 'pids.current')),
      ...refusals(),
    }),
    refusals,
  };
}
