import { findContainer } from '../lib/container.ts';
import { type Check, holds, missing, weaker } from './check.ts';
import type { Host } from './host.ts';

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
