import { examineHost, isReady } from '../../src/doctor/examine-host.ts';
import type { Host, ProgramResult } from '../../src/doctor/host.ts';
import type { HostCheck } from '../../src/doctor/host-check.ts';

export interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly paths?: readonly string[];
  /** Missing programs. */
  readonly lacks?: readonly string[];
  readonly uid?: number;
  /** Error output of bubblewrap when it opens a sandbox. Empty means success. */
  readonly refuses?: (uid: number) => string;
  readonly help?: string;
  readonly groups?: Awaited<ReturnType<Host['tryControlGroups']>>;
  readonly init?: string;
  readonly temporaryFiles?: Host['temporaryFiles'];
  readonly inside?: Host['runInSandbox'];
}

const files = {
  '/etc/os-release': 'PRETTY_NAME="Ubuntu 24.04.2 LTS"\nID=ubuntu\nID_LIKE=debian\n',
  '/proc/sys/kernel/osrelease': '6.8.0-60-generic\n',
  '/proc/sys/kernel/seccomp/actions_avail': 'kill_process kill_thread trap errno user_notif trace log allow\n',
  '/sys/kernel/security/lsm': 'lockdown,capability,landlock,yama,apparmor\n',
  '/proc/self/cgroup': '0::/user.slice/user-1000.slice/session-2.scope\n',
  '/proc/sys/user/max_user_namespaces': '63000\n',
  '/proc/sys/fs/inotify/max_user_instances': '128\n',
  '/proc/sys/fs/inotify/max_user_watches': '524288\n',
};
export const allFlags = '--bind-fd --ro-bind-fd --disable-userns --as-pid-1 --info-fd --size';
export const status =
  'CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n';
export const ownInotify = 'Inotify instances: 16\nInotify watches: 65536\n';
export const goodInside = `${status}${ownInotify}Interface: lo\nProgram: bash\nProgram: node\n`;
export const goodNetwork = 'Interface: lo\nProxy: HTTP/1.1 403 Forbidden\n';

/** A host that has everything except what is given. */
function makeHost(given: Given = {}): Host {
  const texts: Readonly<Record<string, string | undefined>> = { ...files, ...given.files };
  const user = { uid: given.uid ?? 1000, gid: given.uid ?? 1000 };
  const run = (argv: readonly string[], uid: number): ProgramResult => {
    const words = argv.includes('--unshare-all') ? (given.refuses?.(uid) ?? '') : '';
    const stdout = argv.includes('--help') ? (given.help ?? allFlags) : 'program 1.2.3\n';
    return { code: words === '' ? 0 : 1, stdout, stderr: words };
  };
  return {
    read: (path) => texts[path],
    exists: (path) => given.paths?.includes(path) ?? false,
    findProgram: (name) => (given.lacks?.includes(name) ? undefined : `/usr/bin/${name}`),
    run: async (argv, as = user) => run(argv, as.uid),
    user,
    tryControlGroups: async () => given.groups ?? { version: 2 },
    findInitProblem: () => given.init,
    nativeFix: 'npm run setup',
    temporaryFiles: given.temporaryFiles ?? { path: '/tmp/croft-1000' },
    dockerSocket: '/run/docker.sock',
    runInSandbox:
      given.inside ?? (async (_, network) => ({ output: network === 'deny-all' ? goodInside : goodNetwork })),
  };
}

export async function examineStandIn(given: Given) {
  const examination = await examineHost(makeHost(given));
  const row = (name: string) => examination.checks.find((check) => check.name === name) as HostCheck;
  return { ...examination, row, isReady: isReady(examination) };
}
