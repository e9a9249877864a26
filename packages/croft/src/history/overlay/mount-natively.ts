import { getSystemErrorMessage } from 'node:util';
import { addon } from '../../disk/paths/native-addon.ts';

/**
 * Mounts with one system call on another thread. Starting a program for it takes several milliseconds. Returns false
 * without the addon. Throws an `Error` with the reason of the kernel.
 */
export async function mountNatively(target: string, options: string): Promise<boolean> {
  if (!addon) return false;
  mustBeDone(await addon.mountOverlay(target, options));
  return true;
}

/** Returns false without the addon. Throws an `Error` with the reason of the kernel. */
export async function unmountNatively(target: string, isLazy: boolean): Promise<boolean> {
  if (!addon) return false;
  mustBeDone(await addon.unmount(target, isLazy));
  return true;
}

function mustBeDone(errno: number): void {
  if (errno !== 0) throw new Error(getSystemErrorMessage(-errno));
}
