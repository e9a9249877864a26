import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The kernel follows at most this many links too. */
const maxLinks = 40;

/**
 * Tells whether resolving `path` passes through `directory` (a real path), by name or by any link that is followed. If
 * so, anyone who can write to `directory` decides where `path` ends, now and later.
 */
export function pathResolvesThrough(path: string, directory: string): boolean {
  const ahead = namesOf(path).reverse();
  let [currentPath, links] = ['/', 0];
  for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
    const next = join(currentPath, name);
    if (`${next}/`.startsWith(`${directory}/`)) return true;
    const link = linkAt(next);
    if (link === undefined) {
      currentPath = next;
      continue;
    }
    if (++links > maxLinks) return true;
    ahead.push(...namesOf(link).reverse());
    if (link.startsWith('/')) currentPath = '/';
  }
  return false;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
