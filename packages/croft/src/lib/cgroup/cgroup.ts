import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { parentName } from './cgroup-directory.ts';
import type { Group, Groups, GroupsOptions } from './cgroup-parts.ts';
import { findVersion1, observeVersion1 } from './cgroup-version1.ts';
import { findVersion2, observeVersion2 } from './cgroup-version2.ts';

export type { Group, GroupLimits, Groups, GroupsOptions, GroupUsage } from './cgroup-parts.ts';

/** The control groups this process may make below its own, or why it may not. */
export function findGroups(changed: Partial<GroupsOptions> = {}): Groups | { reason: string } {
  try {
    const options = { name: parentName(process.pid), total: machineShare(), ...changed };
    const own = readFileSync('/proc/self/cgroup', 'utf8');
    const found = findVersion1(own, options) ?? findVersion2(own, options);
    return found ?? { reason: 'no memory and pids controllers are delegated here' };
  } catch (thrown) {
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** The group that somebody else put a process in, if `mark` is in its name: the number may mean another process here. */
export function observeGroup(pid: number, mark: string): Pick<Group, 'refusals'> | undefined {
  try {
    const of = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
    return of.includes(mark) ? (observeVersion1(of) ?? observeVersion2(of)) : undefined;
  } catch {
    return undefined;
  }
}

/** Leaves the rest of the machine enough to go on with. */
function machineShare(): GroupsOptions['total'] {
  const mostProcesses = ['pid_max', 'threads-max'].map((name) =>
    Number(readFileSync(`/proc/sys/kernel/${name}`, 'utf8')),
  );
  return { memoryBytes: Math.floor(totalmem() * 0.85), processes: Math.floor(Math.min(...mostProcesses) / 2) };
}
