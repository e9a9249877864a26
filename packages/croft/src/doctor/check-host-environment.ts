import { detectContainer } from '../lib/processes/detect-container.ts';
import type { Host } from './host.ts';
import { type HostCheck, holds, missing, weaker } from './host-check.ts';

export function checkHostEnvironment(host: Host): HostCheck {
  const container = detectContainer(host);
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

/** The oldest kernel that is maintained upstream and has everything that the init needs. */
const oldest = [5, 10] as const;

export function checkKernel(host: Host): HostCheck {
  const kernel = kernelOf(host);
  const fix = { say: `Use Linux ${oldest.join('.')} or newer: a bug in the kernel is a way out of every sandbox.` };
  if (kernel === undefined) return missing('kernel', 'not Linux, or no /proc', fix);
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
  return isOld
    ? weaker('kernel', `Linux ${kernel}, no longer maintained upstream`, fix)
    : holds('kernel', `Linux ${kernel}`);
}
