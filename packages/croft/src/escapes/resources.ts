import type { Escape } from './escape.ts';
import { resourcesProcesses } from './resources-processes.ts';
import { resourcesRoom } from './resources-room.ts';
import { resourcesTime } from './resources-time.ts';

/** G: more than its share of the machine. */
export const resources: readonly Escape[] = [...resourcesProcesses, ...resourcesRoom, ...resourcesTime].sort(
  (one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }),
);
