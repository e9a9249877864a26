import { accessSync, readFileSync } from 'node:fs';

export type Container = 'gVisor' | 'Podman' | 'Kubernetes' | 'Docker' | 'LXC';

/** A machine as it is looked at. */
export interface Look {
  /** The text of a file, unless it is not there or not ours to read. */
  read(path: string): string | undefined;
  exists(path: string): boolean;
}

/** The narrowest first: a pod of Kubernetes may look like Docker too. */
const signs: readonly (readonly [Container, string, (look: Look) => boolean])[] = [
  ['gVisor', 'the kernel says so', (look) => /gvisor|Jan 10 15:06:54 PST 2016/i.test(look.read('/proc/version') ?? '')],
  ['Kubernetes', 'its service account', (look) => look.exists('/var/run/secrets/kubernetes.io')],
  ['Kubernetes', 'its control group', (look) => /kubepods/.test(groupsOf(look))],
  ['Podman', '/run/.containerenv', (look) => look.exists('/run/.containerenv')],
  ['Docker', '/.dockerenv', (look) => look.exists('/.dockerenv')],
  ['Docker', 'its control group', (look) => /\/docker[/-]/.test(groupsOf(look))],
  ['LXC', 'its control group', (look) => /\/lxc[./]/.test(groupsOf(look))],
];

/** What a container is started with so that sandboxes can be made in it, where that can be. */
export const sandboxesNeed: Readonly<Record<Container, string | undefined>> = {
  Docker:
    'docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …',
  Podman: 'podman run --security-opt seccomp=unconfined --security-opt unmask=ALL --security-opt label=disable …',
  Kubernetes:
    'securityContext: { seccompProfile: { type: Unconfined }, appArmorProfile: { type: Unconfined }, procMount: Unmasked }',
  LXC: 'lxc config set NAME security.nesting true && lxc restart NAME',
  gVisor: undefined,
};

/** What this process runs in, and what gave it away. */
export function findContainer(look: Look = here): { readonly kind: Container; readonly sign: string } | undefined {
  const found = signs.find(([, , applies]) => applies(look));
  return found && { kind: found[0], sign: found[1] };
}

/** Root that was left no capability may neither map itself, which any other user may, nor become another. */
export function isBareRoot(uid: number, words: string): boolean {
  return uid === 0 && /(?:setting up uid map|bubblewrap cannot be started): Operation not permitted/.test(words);
}

const here: Look = {
  read: (path) => attempt(() => readFileSync(path, 'utf8')),
  exists: (path) => attempt(() => accessSync(path) ?? true) ?? false,
};

function groupsOf(look: Look): string {
  return `${look.read('/proc/self/cgroup') ?? ''}\n${look.read('/proc/1/cgroup') ?? ''}`;
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
