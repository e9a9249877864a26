import type { Escape } from './escape.ts';
import { probe, probing, throughOf } from './probe.ts';
import { verdict } from './verdict.ts';

const ways = (pid: string, handle: number) => [
  `ptrace-attach ${pid}`,
  `ptrace-seize ${pid}`,
  `process-vm-readv ${pid}`,
  `pidfd-getfd ${pid} ${handle}`,
  `kcmp ${pid}`,
];
/** What of a process only those may see who may look into it. Which handles it has by number is not among that. */
const files = ['environ', 'maps', 'stack', 'syscall', 'auxv'];
const links = ['fd/3', 'root', 'cwd', 'exe', 'ns/mnt'];

/** Other processes, and what a program is started with. */
export const kernelProcesses: readonly Escape[] = [
  {
    id: 'B25',
    title: 'a capability that is left',
    guards: ['capabilities'],
    async attempt(ground) {
      const { output } = await ground.run('grep ^Cap /proc/self/status');
      const sets = [...output.matchAll(/^(Cap\w+):\s*([0-9a-f]+)$/gm)];
      if (sets.length < 5) throw new Error(`status said ${output}`);
      return verdict(sets.map(([, name, set = '']) => /[^0]/.test(set) && `${name} is ${set}`));
    },
  },
  probing({ id: 'B26', title: 'a set-id bit on a program of its own', guards: ['system-calls'] }, [
    ...['chmod', 'fchmod', 'fchmodat2', 'open', 'mknod', 'tmpfile'].map((way) => `set-id-${way}`),
  ]),
  {
    id: 'B26b',
    title: 'privileges of a set-id program of the system',
    guards: ['privileges', 'landlock', 'system-calls'],
    async attempt(ground) {
      const { output } = await ground.run("grep NoNewPrivs /proc/self/status; bash -c 'sudo -n id -u' </dev/null");
      const isRoot = /^0$/m.test(output);
      return verdict(!/^NoNewPrivs:\s*1$/m.test(output) && 'new privileges can be had', isRoot && 'became root');
    },
  },
  {
    id: 'B29',
    title: 'looking into the init and the keeper',
    guards: ['init', 'system-calls'],
    async attempt(ground) {
      const probed = await probe(ground, [...ways('1', 3), ...ways('$PPID', 4)]);
      const looks = ['1', '$PPID'].flatMap((pid) => [
        ...files.map((name) => `head -c 1 /proc/${pid}/${name} >/dev/null && echo ${name} of ${pid}`),
        ...links.map((name) => `readlink /proc/${pid}/${name} >/dev/null && echo ${name} of ${pid}`),
      ]);
      const { output } = await ground.run(['exec 2>/dev/null', ...looks, 'exit 0'].join('\n'));
      return verdict(throughOf(probed), output !== '' && `seen: ${output.trimEnd().replaceAll('\n', ', ')}`);
    },
  },
  probing(
    { id: 'B29b', title: 'memory and handles of a neighbour', guards: ['system-calls'] },
    ways('$!', 1),
    'sleep 30 & trap "kill $!" EXIT',
  ),
  probing({ id: 'B33', title: 'a program that is in no file', guards: ['system-calls'] }, ['memfd-exec unshare-user']),
  probing({ id: 'B38', title: 'a handle that was left open', guards: ['init'] }, ['handles']),
  probing({ id: 'B39', title: 'a core dump', guards: ['limits'] }, ['core-limit']),
  {
    id: 'B40',
    title: 'variables of the server that steer what is loaded',
    guards: ['environment'],
    async attempt(ground) {
      const names = ['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'BASH_ENV', 'NODE_OPTIONS', 'GCONV_PATH'];
      const variables = Object.fromEntries(names.map((name) => [name, '/nowhere/steered']));
      const { output } = await (await ground.open({ variables })).run(
        'env; cat /proc/*/environ; cat /etc/ld.so.preload',
      );
      return verdict(names.map((name) => output.includes(`${name}=`) && `${name} came through`));
    },
  },
];
