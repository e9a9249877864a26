import { statfsSync } from 'node:fs';

const tmpfs = 0x01021994;
const ramfs = 0x858458f6;

/** Whether a file is on no disk at all, so that there is nothing to wait for: a power cut takes it with everything else. */
export function isInMemory(handle: number): boolean {
  const { type } = statfsSync(`/proc/self/fd/${handle}`);
  return type === tmpfs || type === ramfs;
}
