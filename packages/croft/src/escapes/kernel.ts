import type { Escape } from './escape.ts';
import { kernelHost } from './kernel-host.ts';
import { kernelNamespaces } from './kernel-namespaces.ts';
import { kernelProcesses } from './kernel-processes.ts';
import { kernelRefusal } from './kernel-refusal.ts';
import { kernelSurface } from './kernel-surface.ts';

/** B: system calls. */
export const kernel: readonly Escape[] = [
  ...kernelProcesses,
  ...kernelNamespaces,
  ...kernelSurface,
  ...kernelHost,
  ...kernelRefusal,
].sort((one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }));
