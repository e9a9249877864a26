import type { Escape } from './escape.ts';
import { describeGotThrough, runProber, toProberEscape } from './run-prober.ts';
import { toVerdict } from './to-verdict.ts';

/** System calls that no program in a sandbox needs and that have been a way out before. */
export const kernelSurface: readonly Escape[] = [
  toProberEscape({ id: 'B30', title: 'io_uring, which passes by every filter', guards: ['system-calls'] }, [
    'io-uring',
  ]),
  toProberEscape({ id: 'B31', title: 'calls that hold the kernel still or look into it', guards: ['system-calls'] }, [
    'userfaultfd',
    'perf',
    'fanotify',
    'memfd-secret',
  ]),
  toProberEscape({ id: 'B31b', title: 'keys of the kernel', guards: ['system-calls'] }, [
    'keyctl',
    'add-key',
    'request-key',
  ]),
  toProberEscape({ id: 'B31c', title: 'another kernel, or parts of one', guards: ['system-calls', 'capabilities'] }, [
    ...['bpf', 'kexec-load', 'init-module', 'finit-module', 'delete-module', 'reboot'],
    ...['open-by-handle /usr', 'device'],
  ]),
  foreign('B32', 'calls as i386 makes them', 'i386'),
  foreign('B32b', 'calls as x32 makes them', 'x32'),
  toProberEscape({ id: 'B35', title: 'keys typed into a terminal', guards: ['system-calls'] }, [
    'tiocsti',
    'tioclinux',
  ]),
  {
    id: 'B35b',
    title: 'the terminal of the server',
    guards: ['init', 'namespaces'],
    async attempt(fixture) {
      const { output } = await fixture.run('exec 9<>/dev/tty && echo "there is a terminal"; exit 0');
      return toVerdict(output.includes('there is a terminal') && 'there is a terminal');
    },
  },
  toProberEscape({ id: 'B36b', title: 'sockets that know no namespaces', guards: ['system-calls'] }, [
    'vsock',
    'packet',
    'alg',
  ]),
];

/** The same calls under other numbers, which a filter that checks numbers alone would let pass. */
function foreign(id: string, title: string, attempt: string): Escape {
  return {
    id,
    title,
    guards: ['system-calls'],
    async attempt(fixture) {
      if (process.arch !== 'x64') return { skipped: `${process.arch} has no such calls` };
      const probed = await runProber(fixture, [attempt]);
      // A filter that sees such a call kills the caller.
      if (probed[0]?.answer === 'ENOSYS') return { skipped: `this kernel has no calls of ${attempt}` };
      return toVerdict(describeGotThrough(probed));
    },
  };
}
