import { detectContainer } from '../lib/processes/detect-container.ts';
import { type Host, isRoot } from './host.ts';
import { type HostCheck, type HostFix, holds, weaker } from './host-check.ts';

/** Says how each limit is enforced on this host: by one control group per sandbox, or by rlimits and a watchdog. */
export async function checkLimits(host: Host): Promise<HostCheck[]> {
  const groups = await host.tryControlGroups();
  if ('version' in groups) {
    return [
      holds('control groups', `version ${groups.version}, one for each sandbox; ${serverOrder[groups.version]}`),
      ...['memory', 'processes', 'CPU'].map((what) =>
        holds(`limit: ${what}`, 'by control group, for the whole sandbox'),
      ),
      disk,
    ];
  }
  return [
    weaker('control groups', `cannot be made here: ${groups.reason}`, toFix(host, groups.reason)),
    weaker('limit: memory', 'by rlimit for each process, by a watchdog for all of them: they can go over for a moment'),
    weaker('limit: processes', 'by rlimit for its user, by a watchdog for the sandbox: it can go over for a moment'),
    weaker('limit: CPU', 'none but the time limit of commands'),
    disk,
  ];
}

/** How the server gets a processor while sandboxes compute: see `lib/cgroup`. */
const serverOrder = {
  1: 'the server goes before sandboxes that compute for long',
  2: 'the server has ten times the weight of all sandboxes together',
};

/** File system quotas are no option: they need root, and a file system that supports them. */
const disk = holds('limit: disk', 'by a watchdog, several times a second; /tmp by its size, each file by rlimit');

function toFix(host: Host, reason: string): HostFix {
  const kind = detectContainer(host)?.kind;
  if (kind === 'Docker') {
    const say = 'Let the container make groups below its own, with Docker 28 or newer and control groups 2.';
    return { say, run: 'docker run --cgroupns=private --security-opt writable-cgroups=true …' };
  }
  if (kind === 'Podman') {
    const say = 'Let the container make groups below its own.';
    return { say, run: 'podman run --cgroupns=private --security-opt unmask=/sys/fs/cgroup …' };
  }
  if (kind) return { say: `Ask ${kind} for a writable /sys/fs/cgroup (control groups 2) of its own.` };
  const say = /EBUSY/.test(reason)
    ? 'Start the server in a group where it is alone, and which is handed over to it.'
    : 'Start the server in a group that is handed over to it; in a unit of systemd, Delegate=yes.';
  return { say, run: `systemd-run ${isRoot(host) ? '' : '--user '}--scope -p Delegate=yes croft serve …` };
}
