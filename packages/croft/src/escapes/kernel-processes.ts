import type { Escape } from './escape.ts';
import { describeGotThrough, runProber, toProberEscape } from './run-prober.ts';
import { toVerdict } from './to-verdict.ts';

const ways = (pid: string, handle: number) => [
  `ptrace-attach ${pid}`,
  `ptrace-seize ${pid}`,
  `process-vm-readv ${pid}`,
  `pidfd-getfd ${pid} ${handle}`,
  `kcmp ${pid}`,
];
/**
 * Files in /proc/PID that only a process with ptrace access may read. The list of open descriptors is not one of them.
 */
const files = ['environ', 'maps', 'stack', 'syscall', 'auxv'];
const links = ['fd/3', 'root', 'cwd', 'exe', 'ns/mnt'];

/** Attempts on other processes, and on what a program inherits at its start. */
export const kernelProcesses: readonly Escape[] = [
  {
    id: 'B25',
    title: 'a capability that is left',
    guards: ['capabilities'],
    async attempt(fixture) {
      const { output } = await fixture.run('grep ^Cap /proc/self/status');
      const sets = [...output.matchAll(/^(Cap\w+):\s*([0-9a-f]+)$/gm)];
      if (sets.length < 5) throw new Error(`status said ${output}`);
      return toVerdict(sets.map(([, name, set = '']) => /[^0]/.test(set) && `${name} is ${set}`));
    },
  },
  toProberEscape({ id: 'B26', title: 'a set-id bit on a program of its own', guards: ['system-calls'] }, [
    ...['chmod', 'fchmod', 'fchmodat2', 'open', 'mknod', 'tmpfile'].map((way) => `set-id-${way}`),
  ]),
  {
    id: 'B26b',
    title: 'privileges of a set-id program of the system',
    guards: ['privileges', 'landlock', 'system-calls'],
    async attempt(fixture) {
      const { output } = await fixture.run("grep NoNewPrivs /proc/self/status; bash -c 'sudo -n id -u' </dev/null");
      const isRoot = /^0$/m.test(output);
      return toVerdict(!/^NoNewPrivs:\s*1$/m.test(output) && 'new privileges can be had', isRoot && 'became root');
    },
  },
  {
    id: 'B29',
    title: 'looking into the init and the subreaper',
    guards: ['init', 'system-calls'],
    async attempt(fixture) {
      const probed = await runProber(fixture, [...ways('1', 3), ...ways('$PPID', 4)]);
      const reads = ['1', '$PPID'].flatMap((pid) => [
        ...files.map((name) => `head -c 1 /proc/${pid}/${name} >/dev/null && echo ${name} of ${pid}`),
        ...links.map((name) => `readlink /proc/${pid}/${name} >/dev/null && echo ${name} of ${pid}`),
      ]);
      const { output } = await fixture.run(['exec 2>/dev/null', ...reads, 'exit 0'].join('\n'));
      return toVerdict(describeGotThrough(probed), output !== '' && `seen: ${output.trimEnd().replaceAll('\n', ', ')}`);
    },
  },
  toProberEscape(
    { id: 'B29b', title: 'memory and handles of a neighbour', guards: ['system-calls'] },
    ways('$!', 1),
    'sleep 30 & trap "kill $!" EXIT',
  ),
  {
    id: 'B29c',
    title: 'an end that the subreaper takes for one, by asking it to trace',
    guards: ['init'],
    async attempt(fixture) {
      const { output, exitCode } = await fixture.run(`echo $$; exec ${fixture.prober} trace-me`, {
        timeoutSeconds: 20,
      });
      const [pid, answer] = output.trimEnd().split('\n');
      const { output: state } = await fixture.run(`grep -s State /proc/${pid}/status; exit 0`);
      return toVerdict(
        state !== '' && `its end was reported, and it is still there: ${state.trim()}`,
        exitCode === null && answer === undefined && 'no exit code is known of it',
      );
    },
  },
  toProberEscape({ id: 'B33', title: 'a program that is in no file', guards: ['system-calls'] }, [
    'memfd-exec unshare-user',
  ]),
  toProberEscape({ id: 'B38', title: 'a handle that was left open', guards: ['init'] }, ['handles']),
  toProberEscape({ id: 'B39', title: 'a core dump', guards: ['limits'] }, ['core-limit']),
  {
    id: 'B40',
    title: 'variables of the server that steer what is loaded',
    guards: ['environment'],
    async attempt(fixture) {
      const names = ['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'BASH_ENV', 'NODE_OPTIONS', 'GCONV_PATH'];
      const variables = Object.fromEntries(names.map((name) => [name, '/nowhere/steered']));
      const { output } = await (await fixture.open({ variables })).run(
        'env; cat /proc/*/environ; cat /etc/ld.so.preload',
      );
      return toVerdict(names.map((name) => output.includes(`${name}=`) && `${name} came through`));
    },
  },
];
