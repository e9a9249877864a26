import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A mounted cgroup hierarchy. */
interface Mount {
  readonly kind: string;
  /** Mount options; in version 1 they include the controllers. */
  readonly options: readonly string[];
}

/** Returns the directory of the group of a process for a controller, if that hierarchy is mounted. */
export function locateVersion1(own: string, controller: string): string | undefined {
  const line = own.split('\n').find((row) => row.split(':')[1]?.split(',').includes(controller));
  const path = line?.split(':').slice(2).join(':');
  return locateGroup(path, ({ kind, options }) => kind === 'cgroup' && options.includes(controller));
}

/** Returns the directory of a group, if the hierarchy of the group is mounted and shows the group. */
export function locateGroup(path: string | undefined, isMeant: (mount: Mount) => boolean): string | undefined {
  for (const row of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [mountFields = '', source = ''] = row.split(' - ');
    const [kind = '', , options = ''] = source.split(' ');
    if (path === undefined || !isMeant({ kind, options: options.split(',') })) continue;
    const [, , , root = '/', point = ''] = mountFields.split(' ');
    return join(point, root === '/' ? path : path.replace(root, ''));
  }
  return undefined;
}
