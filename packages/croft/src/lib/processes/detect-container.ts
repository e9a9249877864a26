import { accessSync, readFileSync } from 'node:fs';
import { tryOrUndefined } from '../try-or-undefined.ts';

export type ContainerRuntime = 'gVisor' | 'Podman' | 'Kubernetes' | 'Docker' | 'LXC';

/** Reads files of the host. Tests replace it. */
interface HostFiles {
  /** Returns the text of a file, or `undefined` if the file is missing or unreadable. */
  read(path: string): string | undefined;
  exists(path: string): boolean;
}

/** The most specific signs come first: a Kubernetes pod may also look like Docker. */
const signs: readonly (readonly [ContainerRuntime, string, (host: HostFiles) => boolean])[] = [
  ['gVisor', 'the kernel says so', (host) => /gvisor|Jan 10 15:06:54 PST 2016/i.test(host.read('/proc/version') ?? '')],
  ['Kubernetes', 'its service account', (host) => host.exists('/var/run/secrets/kubernetes.io')],
  ['Kubernetes', 'its control group', (host) => /kubepods/.test(groupsOf(host))],
  ['Podman', '/run/.containerenv', (host) => host.exists('/run/.containerenv')],
  ['Docker', '/.dockerenv', (host) => host.exists('/.dockerenv')],
  ['Docker', 'its control group', (host) => /\/docker[/-]/.test(groupsOf(host))],
  ['LXC', 'its control group', (host) => /\/lxc[./]/.test(groupsOf(host))],
];

/**
 * The options that a container must be started with so that Croft can open sandboxes in it. `undefined`: no option
 * makes it possible.
 */
export const containerOptionsForSandboxes: Readonly<Record<ContainerRuntime, string | undefined>> = {
  Docker:
    'docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …',
  Podman: 'podman run --security-opt seccomp=unconfined --security-opt unmask=ALL --security-opt label=disable …',
  Kubernetes:
    'securityContext: { seccompProfile: { type: Unconfined }, appArmorProfile: { type: Unconfined }, procMount: Unmasked }',
  LXC: 'lxc config set NAME security.nesting true && lxc restart NAME',
  gVisor: undefined,
};

/**
 * Returns the container runtime that this process runs in and the sign that revealed it, or `undefined` outside of a
 * container.
 */
export function detectContainer(
  hostFiles: HostFiles = realHostFiles,
): { readonly kind: ContainerRuntime; readonly sign: string } | undefined {
  const found = signs.find(([, , applies]) => applies(hostFiles));
  return found && { kind: found[0], sign: found[1] };
}

/**
 * Tells whether bubblewrap failed because this process is root without capabilities: such a root may neither map its
 * own user id, which any other user may, nor switch to another user.
 */
export function isRootWithoutCapabilities(uid: number, words: string): boolean {
  return uid === 0 && /(?:setting up uid map|bubblewrap cannot be started): Operation not permitted/.test(words);
}

const realHostFiles: HostFiles = {
  read: (path) => tryOrUndefined(() => readFileSync(path, 'utf8')),
  exists: (path) => tryOrUndefined(() => accessSync(path) ?? true) ?? false,
};

function groupsOf(hostFiles: HostFiles): string {
  return `${hostFiles.read('/proc/self/cgroup') ?? ''}\n${hostFiles.read('/proc/1/cgroup') ?? ''}`;
}
