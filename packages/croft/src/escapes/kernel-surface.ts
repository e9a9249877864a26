import type { Escape } from './escape.ts';
import { probe, probing, throughOf } from './probe.ts';
import { verdict } from './verdict.ts';

/** Calls that nobody in a sandbox needs, and each of which has been a way out somewhere. */
export const kernelSurface: readonly Escape[] = [
  probing({ id: 'B30', title: 'io_uring, which passes by every filter', guards: ['system-calls'] }, ['io-uring']),
  probing({ id: 'B31', title: 'calls that hold the kernel still or look into it', guards: ['system-calls'] }, [
    'userfaultfd',
    'perf',
    'fanotify',
    'memfd-secret',
  ]),
  probing({ id: 'B31b', title: 'keys of the kernel', guards: ['system-calls'] }, ['keyctl', 'add-key', 'request-key']),
  probing({ id: 'B31c', title: 'another kernel, or parts of one', guards: ['system-calls', 'capabilities'] }, [
    ...['bpf', 'kexec-load', 'init-module', 'finit-module', 'delete-module', 'reboot'],
    ...['open-by-handle /usr', 'device'],
  ]),
  foreign('B32', 'calls as i386 makes them', 'i386'),
  foreign('B32b', 'calls as x32 makes them', 'x32'),
  probing({ id: 'B35', title: 'keys typed into a terminal', guards: ['system-calls'] }, ['tiocsti', 'tioclinux']),
  {
    id: 'B35b',
    title: 'the terminal of the server',
    guards: ['init', 'namespaces'],
    async attempt(ground) {
      const { output } = await ground.run('exec 9<>/dev/tty && echo "there is a terminal"; exit 0');
      return verdict(output.includes('there is a terminal') && 'there is a terminal');
    },
  },
  probing({ id: 'B36b', title: 'sockets that know no namespaces', guards: ['system-calls'] }, [
    'vsock',
    'packet',
    'alg',
  ]),
];

/** The same calls by other numbers, which a filter that looks at numbers alone lets pass. */
function foreign(id: string, title: string, attempt: string): Escape {
  return {
    id,
    title,
    guards: ['system-calls'],
    async attempt(ground) {
      if (process.arch !== 'x64') return { skipped: `${process.arch} has no such calls` };
      const probed = await probe(ground, [attempt]);
      // A filter that sees such a call ends whoever made it.
      if (probed[0]?.answer === 'ENOSYS') return { skipped: `this kernel has no calls of ${attempt}` };
      return verdict(throughOf(probed));
    },
  };
}
