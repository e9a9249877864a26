import type { Host } from './host.ts';
import { type HostCheck, holds, weaker } from './host-check.ts';

const kinds = ['instances', 'watches'] as const;

/** Prints the inotify limits that a program in a sandbox sees. */
export const inotifyScript = kinds
  .map((kind) => `sed 's/^/Inotify ${kind}: /' /proc/sys/user/max_inotify_${kind} 2>/dev/null`)
  .concat('true')
  .join('; ');

/**
 * Checks that a sandbox gets only a share of inotify. The kernel counts watches in a sandbox for the user outside too,
 * whose editor and server need some themselves.
 */
export function checkInotify(host: Host, output: string, name = 'limit: inotify'): HostCheck {
  const shares = kinds.map((kind) => toShare(host, output, kind));
  if (shares.every(({ isLess }) => isLess))
    return holds(name, `for each sandbox ${shares.map(({ text }) => text).join(', ')} of its user`);
  return weaker(name, 'none: programs of a sandbox can take all inotify instances and watches of its user', {
    say: 'Use a kernel that has /proc/sys/user/max_inotify_instances, and a provider that can show it to the init.',
  });
}

function toShare(host: Host, output: string, kind: (typeof kinds)[number]) {
  const whole = Number(host.read(`/proc/sys/fs/inotify/max_user_${kind}`));
  const own = Number(new RegExp(`^Inotify ${kind}: (\\d+)$`, 'm').exec(output)?.[1]);
  return { isLess: own < whole, text: `${own} of ${whole} ${kind}` };
}
