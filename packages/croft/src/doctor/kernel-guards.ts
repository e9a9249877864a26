import { type Check, holds, missing, weaker } from './check.ts';
import type { Host } from './host.ts';
import { kernelOf } from './surroundings.ts';

export function checkSeccomp(host: Host): Check {
  const actions = (host.read('/proc/sys/kernel/seccomp/actions_avail') ?? '').split(/\s+/);
  const lacks = ['errno', 'kill_process'].filter((action) => !actions.includes(action));
  if (lacks.length > 0) {
    const found = `no filters of system calls (no ${lacks.join(', ')})`;
    return missing('seccomp', found, { say: 'Use a kernel with CONFIG_SECCOMP_FILTER=y, 4.14 or newer.' });
  }
  if (actions.includes('user_notif')) return holds('seccomp', 'filter of system calls, and word of those it refuses');
  return weaker('seccomp', 'filter of system calls; agents are not told what it refused', {
    say: 'Use Linux 5.0 or newer.',
  });
}

/** `undefined` where only a system call could tell. */
export function checkLandlock(host: Host): Check | undefined {
  const modules = host.read('/sys/kernel/security/lsm')?.trim() ?? findBuiltModules(host);
  if (modules === undefined) return undefined;
  if (modules.split(',').includes('landlock'))
    return holds('landlock', 'a second fence around files, below the mounts');
  return weaker('landlock', 'not in this kernel: files have the one fence of mounts', {
    say: 'Use a kernel with CONFIG_SECURITY_LANDLOCK=y, and name landlock first in its lsm= parameter.',
  });
}

/** What the kernel was built and started with. In a container nothing else may be there to read. */
function findBuiltModules(host: Host): string | undefined {
  const settings = host.read('/proc/config.gz') ?? host.read(`/boot/config-${kernelOf(host)}`);
  if (settings === undefined) return undefined;
  if (!/^CONFIG_SECURITY_LANDLOCK=y$/m.test(settings)) return '';
  return /\blsm=(\S+)/.exec(host.read('/proc/cmdline') ?? '')?.[1] ?? /^CONFIG_LSM="(.*)"$/m.exec(settings)?.[1];
}
