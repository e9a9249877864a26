import { type Check, holds, missing, weaker } from './check.ts';
import type { Host } from './host.ts';

export type Container = 'gVisor' | 'Podman' | 'Kubernetes' | 'Docker' | 'LXC';

/** The narrowest first: a pod of Kubernetes may look like Docker too. */
const signs: readonly (readonly [Container, string, (host: Host) => boolean])[] = [
  ['gVisor', 'the kernel says so', (host) => /gvisor|Jan 10 15:06:54 PST 2016/i.test(host.read('/proc/version') ?? '')],
  ['Kubernetes', 'its service account', (host) => host.exists('/var/run/secrets/kubernetes.io')],
  ['Kubernetes', 'its control group', (host) => /kubepods/.test(groupsOf(host))],
  ['Podman', '/run/.containerenv', (host) => host.exists('/run/.containerenv')],
  ['Docker', '/.dockerenv', (host) => host.exists('/.dockerenv')],
  ['Docker', 'its control group', (host) => /\/docker[/-]/.test(groupsOf(host))],
  ['LXC', 'its control group', (host) => /\/lxc[./]/.test(groupsOf(host))],
];

/** What this process runs in, and what gave it away. */
export function findContainer(host: Host): { readonly kind: Container; readonly sign: string } | undefined {
  const found = signs.find(([, , applies]) => applies(host));
  return found && { kind: found[0], sign: found[1] };
}

export function checkSurroundings(host: Host): Check {
  const container = findContainer(host);
  const system = describeSystem(host);
  return holds('host', container ? `${system}, inside ${container.kind} (${container.sign})` : system);
}

export function describeSystem(host: Host): string {
  const release = host.read('/etc/os-release') ?? '';
  return /^PRETTY_NAME="?([^"\n]+)/m.exec(release)?.[1] ?? 'an unknown system';
}

export function kernelOf(host: Host): string | undefined {
  return host.read('/proc/sys/kernel/osrelease')?.trim();
}

/** The oldest that is still mended, and with all that the init asks of it. */
const oldest = [5, 10] as const;

export function checkKernel(host: Host): Check {
  const kernel = kernelOf(host);
  const fix = { say: `Use Linux ${oldest.join('.')} or newer: a hole in the kernel is a hole in the fence.` };
  if (kernel === undefined) return missing('kernel', 'not Linux, or no /proc', fix);
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
  return isOld
    ? weaker('kernel', `Linux ${kernel}, older than any that is still mended`, fix)
    : holds('kernel', `Linux ${kernel}`);
}

function groupsOf(host: Host): string {
  return `${host.read('/proc/self/cgroup') ?? ''}\n${host.read('/proc/1/cgroup') ?? ''}`;
}
