import { statfsSync } from 'node:fs';

const tmpfs = 0x01021994;
const ramfs = 0x858458f6;

/** Whether a file is in memory only (tmpfs, ramfs), so that a sync has no effect: a power cut loses it anyway. */
export function isInMemory(handle: number): boolean {
  const { type } = statfsSync(`/proc/self/fd/${handle}`);
  return type === tmpfs || type === ramfs;
}
