import { type Host, isRoot } from './host.ts';
import { type HostCheck, holds, weaker } from './host-check.ts';

/** Checks which user the server runs as. To the kernel outside, the programs of a sandbox are that user too. */
export function checkServerUser(host: Host): HostCheck {
  if (!isRoot(host)) return holds('user', `uid ${host.user.uid}; sandboxes run as this user, without a capability`);
  const found =
    'root: a sandbox runs as the owner of its workspace, and as uid 0 without a capability where that is root, ' +
    'or where the owner has no way to the directory';
  return weaker('user', found, {
    say: 'Run croft as a user of its own, or give each workspace to one. Nothing needs root.',
    run: 'sudo useradd --system --create-home croft && sudo -u croft croft serve …',
  });
}
