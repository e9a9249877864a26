import type { Escape } from './escape.ts';
import { kernelHost } from './kernel-host.ts';
import { kernelMissingGuards } from './kernel-missing-guards.ts';
import { kernelNamespaces } from './kernel-namespaces.ts';
import { kernelProcesses } from './kernel-processes.ts';
import { kernelSurface } from './kernel-surface.ts';

/** B: system calls. */
export const kernel: readonly Escape[] = [
  ...kernelProcesses,
  ...kernelNamespaces,
  ...kernelSurface,
  ...kernelHost,
  ...kernelMissingGuards,
].sort((one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }));
