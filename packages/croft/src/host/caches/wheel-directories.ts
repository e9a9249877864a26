import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readSettingsFile } from '../read-small-file.ts';
import type { HostCache, HostCacheOptions } from './host-cache.ts';

const maxDirectories = 8;
const isPackage = /\.(?:whl|egg|zip|tgz|tar\.(?:gz|bz2|xz)|html|metadata|asc|sha256)$/;

/**
 * Lists the directories that pip searches for packages (`PIP_FIND_LINKS`, `find-links`). A directory that holds
 * anything else than packages is not shown, because it may be a person's home.
 */
export function listWheelDirectories({ home, variables }: HostCacheOptions): HostCache[] {
  const files = ['/etc/pip.conf', join(home, '.pip/pip.conf'), join(home, '.config/pip/pip.conf')];
  const configured = files.map((file) => findLinksOf(readSettingsFile(file))).join(' ');
  const named = `${variables?.PIP_FIND_LINKS ?? ''} ${configured}`
    .split(/\s+/)
    .map((directory) => directory.replace(/^file:\/\//, ''));
  const directories = [...new Set(named)].filter((directory) => directory.startsWith('/') && holdsPackages(directory));
  return directories.slice(0, maxDirectories).map((source, index) => ({ name: `wheels/${index}`, source }));
}

/** Returns the value with its continuation lines. */
function findLinksOf(text: string): string {
  const found = [...text.matchAll(/^find[-_]links\s*[=:](.*(?:\n[ \t]+\S.*)*)/gim)];
  return found.map(([, value = '']) => value).join(' ');
}

function holdsPackages(directory: string): boolean {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.length > 0 && entries.every((entry) => !entry.isDirectory() && isPackage.test(entry.name));
  } catch {
    return false;
  }
}
