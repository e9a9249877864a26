import type { Escape } from './escape.ts';
import { resourcesProcesses } from './resources-processes.ts';
import { resourcesStorage } from './resources-storage.ts';
import { resourcesTime } from './resources-time.ts';

/** G: resources beyond the limits. */
export const resources: readonly Escape[] = [...resourcesProcesses, ...resourcesStorage, ...resourcesTime].sort(
  (one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }),
);
