import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A hierarchy of groups that is mounted here. */
interface Mount {
  readonly kind: string;
  /** Of version 1, the controllers among them. */
  readonly options: readonly string[];
}

/** Where a group is found as a directory, if the hierarchy it is named in is mounted and shows it. */
export function locateGroup(path: string | undefined, isMeant: (mount: Mount) => boolean): string | undefined {
  for (const row of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [place = '', source = ''] = row.split(' - ');
    const [kind = '', , options = ''] = source.split(' ');
    if (path === undefined || !isMeant({ kind, options: options.split(',') })) continue;
    const [, , , root = '/', point = ''] = place.split(' ');
    return join(point, root === '/' ? path : path.replace(root, ''));
  }
  return undefined;
}
