import { findGroups } from '../lib/cgroup/cgroup.ts';

/** Whether limits are held by a control group here, or by what is left without one. */
export function hasGroups(): boolean {
  return !('reason' in findGroups());
}
