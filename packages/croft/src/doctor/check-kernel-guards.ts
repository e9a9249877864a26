import { kernelOf } from './check-host-environment.ts';
import type { Host } from './host.ts';
import { type HostCheck, holds, missing, weaker } from './host-check.ts';

export function checkSeccomp(host: Host): HostCheck {
  const actions = (host.read('/proc/sys/kernel/seccomp/actions_avail') ?? '').split(/\s+/);
  const lacks = ['errno', 'kill_process'].filter((action) => !actions.includes(action));
  if (lacks.length > 0) {
    const found = `system calls cannot be filtered (no ${lacks.join(', ')})`;
    return missing('seccomp', found, { say: 'Use a kernel with CONFIG_SECCOMP_FILTER=y, 4.14 or newer.' });
  }
  if (actions.includes('user_notif'))
    return holds('seccomp', 'system calls are filtered, and refused calls are reported');
  return weaker('seccomp', 'system calls are filtered, but agents are not told which were refused', {
    say: 'Use Linux 5.0 or newer.',
  });
}

/** Returns `undefined` where no readable file says whether the kernel has Landlock. */
export function checkLandlock(host: Host): HostCheck | undefined {
  const modules = host.read('/sys/kernel/security/lsm')?.trim() ?? findBuiltModules(host);
  if (modules === undefined) return undefined;
  if (modules.split(',').includes('landlock')) return holds('landlock', 'a second guard for files, below the mounts');
  return weaker('landlock', 'not in this kernel: files are guarded by mounts alone', {
    say: 'Use a kernel with CONFIG_SECURITY_LANDLOCK=y, and name landlock first in its lsm= parameter.',
  });
}

/**
 * Reads the security modules from the kernel's build configuration and command line. In a container these may be the
 * only readable sources.
 */
function findBuiltModules(host: Host): string | undefined {
  const settings = host.read('/proc/config.gz') ?? host.read(`/boot/config-${kernelOf(host)}`);
  if (settings === undefined) return undefined;
  if (!/^CONFIG_SECURITY_LANDLOCK=y$/m.test(settings)) return '';
  return /\blsm=(\S+)/.exec(host.read('/proc/cmdline') ?? '')?.[1] ?? /^CONFIG_LSM="(.*)"$/m.exec(settings)?.[1];
}
