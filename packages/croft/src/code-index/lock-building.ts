import { closeSync, constants, openSync } from 'node:fs';
import { constants as system } from 'node:os';
import { dirname } from 'node:path';
import { addon } from '../disk/paths/native-addon.ts';

const name = 'building';

/**
 * Lets one of several programs on a workspace build the index. The kernel releases the lock when that program ends, for
 * whatever reason. Returns `undefined` while another program has the lock.
 */
export function lockBuilding(file: string): Disposable | undefined {
  const directoryFd = openSync(dirname(file), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const handle = addon?.lock(directoryFd, name) ?? -system.errno.ENOSYS;
    if (handle === -system.errno.EALREADY) return undefined;
    // Without locks several programs build at once, which takes longer and harms nothing.
    return { [Symbol.dispose]: () => handle >= 0 && closeSync(handle) };
  } finally {
    closeSync(directoryFd);
  }
}
