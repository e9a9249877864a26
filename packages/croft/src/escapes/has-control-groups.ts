import { findGroups } from '../lib/cgroup/find-groups.ts';

/** Whether this host can limit sandboxes by control groups. */
export function hasControlGroups(): boolean {
  return !('reason' in findGroups());
}
