import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { errorMessage } from '../error-message.ts';
import type { Group, Groups, GroupsOptions } from './group.ts';
import { groupParentName } from './group-directory.ts';
import { findVersion1, observeVersion1 } from './version1.ts';
import { findVersion2, observeVersion2 } from './version2.ts';

export type { Group, GroupLimits, Groups, GroupsOptions, GroupUsage } from './group.ts';

/** Returns the control groups that this process may make below its own group, or the reason why it may not. */
export function findGroups(changed: Partial<GroupsOptions> = {}): Groups | { reason: string } {
  try {
    const options = { name: groupParentName(process.pid), total: machineShare(), ...changed };
    const own = readFileSync('/proc/self/cgroup', 'utf8');
    const found = findVersion1(own, options) ?? findVersion2(own, options);
    return found ?? { reason: 'no memory and pids controllers are delegated here' };
  } catch (thrown) {
    return { reason: errorMessage(thrown) };
  }
}

/**
 * Returns the group that another program put a process in, if the name of the group contains `mark`. The check is
 * needed because `pid` may be a different process in this PID namespace.
 */
export function observeGroup(pid: number, mark: string): Pick<Group, 'refusals'> | undefined {
  try {
    const of = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
    return of.includes(mark) ? (observeVersion1(of) ?? observeVersion2(of)) : undefined;
  } catch {
    return undefined;
  }
}

/** Default limits for all groups together; they leave enough for the rest of the machine. */
function machineShare(): GroupsOptions['total'] {
  const mostProcesses = ['pid_max', 'threads-max'].map((name) =>
    Number(readFileSync(`/proc/sys/kernel/${name}`, 'utf8')),
  );
  return { memoryBytes: Math.floor(totalmem() * 0.85), processes: Math.floor(Math.min(...mostProcesses) / 2) };
}
