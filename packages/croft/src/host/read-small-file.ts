import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const { O_NONBLOCK, O_RDONLY } = constants;

/**
 * Reads a small text file of the host. Returns an empty text for a missing file, and `undefined` for a file that is
 * unreadable, too large or not regular: a pipe in its place would block this thread for ever.
 */
export function readSmallFile(path: string, maxBytes: number): string | undefined {
  try {
    const handle = openSync(path, O_RDONLY | O_NONBLOCK);
    try {
      const stats = fstatSync(handle);
      if (!stats.isFile() || stats.size > maxBytes) return undefined;
      const bytes = Buffer.alloc(stats.size);
      return bytes.toString('utf8', 0, readSync(handle, bytes));
    } finally {
      closeSync(handle);
    }
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT' ? '' : undefined;
  }
}

/** Reads a settings file. Returns an empty text if the file is missing or cannot be read. */
export function readSettingsFile(path: string): string {
  return readSmallFile(path, 256 * 1024) ?? '';
}
