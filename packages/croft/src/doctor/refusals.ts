import { type Container, findContainer, isBareRoot, sandboxesNeed } from '../lib/container.ts';
import type { Fix } from './check.ts';
import type { Host } from './host.ts';

interface Refusal {
  readonly why: string;
  readonly fix: Fix;
  applies(host: Host, words: string): boolean;
}

const restriction = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';
const profile = `abi <abi/4.0>,\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n`;
const loadProfile = `printf '${profile}' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap`;

/** Why a kernel says no to a sandbox. The first that applies is the one to remove first. */
const refusals: readonly Refusal[] = [
  {
    why: 'user namespaces are turned off (user.max_user_namespaces=0)',
    fix: allow('user.max_user_namespaces', 15_000),
    applies: (host) => settingOf(host, '/proc/sys/user/max_user_namespaces') === '0',
  },
  {
    why: 'as many user namespaces as are allowed are there already, or this is too deep in them',
    fix: allow('user.max_user_namespaces', 15_000),
    applies: (_, words) => /ENOSPC/.test(words),
  },
  {
    why: 'user namespaces are for root alone (kernel.unprivileged_userns_clone=0)',
    fix: allow('kernel.unprivileged_userns_clone', 1),
    applies: (host) => settingOf(host, '/proc/sys/kernel/unprivileged_userns_clone') === '0',
  },
  {
    why: 'this bubblewrap is installed setuid, which lets it do less',
    fix: {
      say: 'Take the bit away: bubblewrap needs it only where user namespaces are turned off.',
      run: 'sudo chmod u-s /usr/bin/bwrap',
    },
    applies: (_, words) => /setuid mode/.test(words),
  },
  {
    why: 'this kernel is built without user namespaces',
    fix: { say: 'Use a kernel with CONFIG_USER_NS=y, as those of every larger distribution are.' },
    applies: (_, words) => /does not support user namespaces/.test(words),
  },
  {
    why: 'root without capabilities may make no user namespace of its own',
    fix: {
      say: 'Be another user than root, who needs none of them.',
      run: 'docker run --user 1000:1000 --cap-drop ALL …',
    },
    applies: (host, words) => isBareRoot(host.user.uid, words),
  },
  {
    why: 'AppArmor lets bubblewrap make a sandbox, but not its init finish it',
    fix: {
      say: 'The profile bwrap-userns-restrict takes from the init what it sets the fence up with: put this one in its place.',
      run: `sudo ln -s /etc/apparmor.d/bwrap-userns-restrict /etc/apparmor.d/disable/ && sudo apparmor_parser -R /etc/apparmor.d/bwrap-userns-restrict; ${loadProfile}`,
    },
    applies: (host, words) =>
      /cannot hold the control files|cannot drop privileges/.test(words) && settingOf(host, restriction) === '1',
  },
  {
    why: 'AppArmor keeps user namespaces from programs without a profile (kernel.apparmor_restrict_unprivileged_userns=1)',
    fix: {
      say: 'Give bubblewrap alone a profile that may have them, rather than turn the restriction off for every program. From a container, do so on its host.',
      run: loadProfile,
    },
    // Inside a container its own profiles are in the way first, in other words than these.
    applies: (host, words) =>
      settingOf(host, restriction) === '1' && (!findContainer(host) || /uid map|RTM_NEWADDR/.test(words)),
  },
];

const inContainers: Readonly<Record<Container, string>> = {
  Docker:
    'Start the container without the profiles that forbid namespaces; each sandbox has a narrower filter of its own. Better still, profiles of your own that add clone, unshare, mount, umount2 and pivot_root. Not --privileged, and not --cap-add SYS_ADMIN: either gives the whole container more than it needs.',
  Podman:
    'Start the container without the profile that forbids namespaces, and with a /proc that may be mounted anew. Not --privileged.',
  Kubernetes:
    'Let the pod make namespaces, in its securityContext; procMount asks for hostUsers: false. Not privileged: true.',
  LXC: 'Let the container have containers of its own.',
  gVisor: 'gVisor may not have the namespaces and mounts a sandbox is made of: run Croft beside it, not inside.',
};

/** What kept a sandbox from being made, in words for an operator. */
export function explainRefusal(host: Host, words: string): { readonly why: string; readonly fix?: Fix } {
  const said = words.split('\n').find((line) => /^(?:bwrap|croft-init): /.test(line));
  // The host is to blame for what the kernel refused them, and for nothing that went wrong elsewhere.
  if (said === undefined) return { why: words.trim().split('\n')[0] || 'it did not say why' };
  const refusal = refusals.find(({ applies }) => applies(host, words));
  if (refusal) return refusal;
  const container = findContainer(host);
  if (!container) return { why: said };
  const run = sandboxesNeed[container.kind];
  const fix = { say: inContainers[container.kind], ...(run !== undefined && { run }) };
  return { why: `${container.kind} does not allow it: ${said}`, fix };
}

function allow(name: string, value: number): Fix {
  return {
    say: 'Allow them, now and at every start; from a container, on its host.',
    run: `echo ${name}=${value} | sudo tee /etc/sysctl.d/90-${name}.conf && sudo sysctl --system`,
  };
}

function settingOf(host: Host, path: string): string | undefined {
  return host.read(path)?.trim();
}
