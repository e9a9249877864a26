import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  groupParentName,
  readSetting,
  removeWithChildren,
  setCpuIdle,
  tryWriteSetting,
  writeSetting,
} from './group-directory.ts';
import { locateVersion1 } from './locate-group.ts';

/*
 * The processor groups of a server, in version 1:
 *
 *   croft-PID/server    the threads of the server but for some workers, and the programs that it starts for itself
 *   croft-PID/NAME      a sandbox, which is idle (`cpu.idle`) while its account has used up its burst
 *   croft-PID/workers   worker threads, always idle
 *
 * The kernel lets the server and the other sandboxes run before idle groups only if all of them are in one directory.
 * Other programs of the machine share with `croft-PID` as a whole. Version 2 cannot have this order: there the directory
 * of the sandboxes also limits their memory, and all threads of a process are in one group. A weight stands in for it
 * (`version2.ts`).
 */
const serverGroup = 'server';
const workersGroup = 'workers';
const defaultShares = 1024;
const isServerGroup = /\/croft-\d+-\d+\/server$/;

/** Returns the directory in which a process makes its groups, wherever the process itself has moved to. */
export function outOfServerGroup(directory: string | undefined): string | undefined {
  return directory?.replace(isServerGroup, '');
}

/**
 * Lets this process answer at once however much its sandboxes and workers compute. Call it before other threads and
 * programs are started: they stay in the group that they were started in.
 */
export function putServerFirst(): void {
  if (process.platform !== 'linux') return;
  try {
    const base = outOfServerGroup(locateVersion1(readFileSync('/proc/self/cgroup', 'utf8'), 'cpu'));
    if (base !== undefined) enter(base, join(base, groupParentName(process.pid)));
  } catch {
    // Without the right to make groups, this process and its sandboxes share the processors as equals.
  }
}

function enter(base: string, parent: string): void {
  const [server, workers] = [join(parent, serverGroup), join(parent, workersGroup)];
  process.once('exit', () => leave(base, parent));
  for (const directory of [server, workers]) mkdirSync(directory, { recursive: true });
  setCpuIdle(workers, 'cpu.shares', 2, true);
  // As much as the server and its sandboxes had when they were apart from each other.
  tryWriteSetting(parent, 'cpu.shares', 2 * defaultShares);
  tryWriteSetting(server, 'cpu.shares', 4 * defaultShares);
  writeSetting(server, 'cgroup.procs', process.pid);
}

/** Moves this process and those it has started out of its groups, so that the groups can be removed. */
function leave(base: string, parent: string): void {
  try {
    const inside = readSetting(join(parent, serverGroup), 'cgroup.procs').split('\n');
    for (const pid of inside) tryWriteSetting(base, 'cgroup.procs', pid);
  } catch {
    // The group does not exist: `putServerFirst` could not make it.
  }
  removeWithChildren(parent);
}

/** Lets the server and its sandboxes run before the calling thread, if the server is in its own group. */
export function joinWorkersGroup(): void {
  try {
    const own = locateVersion1(readFileSync('/proc/thread-self/cgroup', 'utf8'), 'cpu');
    if (own === undefined || !isServerGroup.test(own)) return;
    // 0 is the calling thread.
    writeSetting(join(dirname(own), workersGroup), 'tasks', 0);
  } catch {
    // The thread runs with the rest of the server.
  }
}
