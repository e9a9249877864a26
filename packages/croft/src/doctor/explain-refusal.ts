import {
  type ContainerRuntime,
  containerOptionsForSandboxes,
  detectContainer,
  isRootWithoutCapabilities,
} from '../lib/processes/detect-container.ts';
import type { Host } from './host.ts';
import type { HostFix } from './host-check.ts';

interface Refusal {
  readonly why: string;
  readonly fix: HostFix;
  applies(host: Host, words: string): boolean;
}

const restriction = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';
const profile = `abi <abi/4.0>,\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n`;
const loadProfile = `printf '${profile}' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap`;

/** Known reasons why a kernel refuses a sandbox. The first one that applies must be solved first. */
const refusals: readonly Refusal[] = [
  {
    why: 'user namespaces are turned off (user.max_user_namespaces=0)',
    fix: allow('user.max_user_namespaces', 15_000),
    applies: (host) => settingOf(host, '/proc/sys/user/max_user_namespaces') === '0',
  },
  {
    why: 'the limit of user namespaces is reached, or they are nested too deeply',
    fix: allow('user.max_user_namespaces', 15_000),
    applies: (_, words) => /ENOSPC/.test(words),
  },
  {
    why: 'user namespaces are for root alone (kernel.unprivileged_userns_clone=0)',
    fix: allow('kernel.unprivileged_userns_clone', 1),
    applies: (host) => settingOf(host, '/proc/sys/kernel/unprivileged_userns_clone') === '0',
  },
  {
    why: 'this bubblewrap is installed setuid, which restricts it',
    fix: {
      say: 'Remove the setuid bit: bubblewrap needs it only where user namespaces are turned off.',
      run: 'sudo chmod u-s /usr/bin/bwrap',
    },
    applies: (_, words) => /setuid mode/.test(words),
  },
  {
    why: 'this kernel is built without user namespaces',
    fix: { say: 'Use a kernel with CONFIG_USER_NS=y, as every larger distribution has.' },
    applies: (_, words) => /does not support user namespaces/.test(words),
  },
  {
    why: 'root without capabilities may not create a user namespace',
    fix: {
      say: 'Run as another user than root, who needs no capabilities.',
      run: 'docker run --user 1000:1000 --cap-drop ALL …',
    },
    applies: (host, words) => isRootWithoutCapabilities(host.user.uid, words),
  },
  {
    why: 'AppArmor lets bubblewrap make a sandbox, but keeps its init from setting it up',
    fix: {
      say: 'The profile bwrap-userns-restrict takes away what the init needs to set up the guards: replace it by this one.',
      run: `sudo ln -s /etc/apparmor.d/bwrap-userns-restrict /etc/apparmor.d/disable/ && sudo apparmor_parser -R /etc/apparmor.d/bwrap-userns-restrict; ${loadProfile}`,
    },
    applies: (host, words) =>
      /cannot hold the control files|cannot drop privileges/.test(words) && settingOf(host, restriction) === '1',
  },
  {
    why: 'AppArmor denies user namespaces to programs without a profile (kernel.apparmor_restrict_unprivileged_userns=1)',
    fix: {
      say: 'Give only bubblewrap a profile that allows them, instead of turning the restriction off for every program. In a container, do this on its host.',
      run: loadProfile,
    },
    // Inside a container, the container's own profiles refuse first, with other messages than these.
    applies: (host, words) =>
      settingOf(host, restriction) === '1' && (!detectContainer(host) || /uid map|RTM_NEWADDR/.test(words)),
  },
];

const inContainers: Readonly<Record<ContainerRuntime, string>> = {
  Docker:
    'Start the container without the profiles that forbid namespaces; each sandbox has a narrower filter of its own. Better still, profiles of your own that add clone, unshare, mount, umount2 and pivot_root. Not --privileged, and not --cap-add SYS_ADMIN: either gives the whole container more than it needs.',
  Podman:
    'Start the container without the profile that forbids namespaces, and with a /proc that may be mounted anew. Not --privileged.',
  Kubernetes:
    'Let the pod make namespaces, in its securityContext; procMount asks for hostUsers: false. Not privileged: true.',
  LXC: 'Let the container have containers of its own.',
  gVisor: 'gVisor may not have the namespaces and mounts a sandbox is made of: run Croft beside it, not inside.',
};

/** Explains to an operator why no sandbox could be opened. */
export function explainRefusal(host: Host, words: string): { readonly why: string; readonly fix?: HostFix } {
  const said = words.split('\n').find((line) => /^(?:bwrap|croft-init): /.test(line));
  // Only lines of bwrap and croft-init show what the kernel refused. Any other failure is not the host's fault.
  if (said === undefined) return { why: words.trim().split('\n')[0] || 'it did not say why' };
  const refusal = refusals.find(({ applies }) => applies(host, words));
  if (refusal) return refusal;
  const container = detectContainer(host);
  if (!container) return { why: said };
  const run = containerOptionsForSandboxes[container.kind];
  const fix = { say: inContainers[container.kind], ...(run !== undefined && { run }) };
  return { why: `${container.kind} does not allow it: ${said}`, fix };
}

function allow(name: string, value: number): HostFix {
  return {
    say: 'Allow them now and at every boot. In a container, do this on its host.',
    run: `echo ${name}=${value} | sudo tee /etc/sysctl.d/90-${name}.conf && sudo sysctl --system`,
  };
}

function settingOf(host: Host, path: string): string | undefined {
  return host.read(path)?.trim();
}
